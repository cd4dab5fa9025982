#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clinux_proc.h"

/// A file with a number, which is opened once: it is read at each start.
struct number_file {
    const char *path;
    /// One more than the descriptor; 0 until it is open.
    atomic_int opened;
};

static struct number_file score_file = {.path = "/proc/self/oom_score_adj"};
static struct number_file dumpable_file = {.path = "/proc/sys/fs/suid_dumpable"};

static bool cannot_be_told(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Returns the descriptor, or -1 with errno.
static int open_once(struct number_file *file) {
    int opened = atomic_load(&file->opened);
    if (opened > 0) return opened - 1;
    int descriptor = clx_proc_open(file->path, O_RDONLY);
    if (descriptor < 0) return -1;
    if (atomic_compare_exchange_strong(&file->opened, &opened, descriptor + 1)) return descriptor;
    // Another thread was faster.
    close(descriptor);
    return opened - 1;
}

/// Reads a number. Returns 0 or an errno; a file that is not there or is closed to us says 0.
static int read_number(struct number_file *file, long *number) {
    *number = 0;
    int descriptor = open_once(file);
    if (descriptor < 0) return cannot_be_told(errno) ? errno : 0;
    char text[16] = "";
    if (pread(descriptor, text, sizeof text - 1, 0) < 0) return errno;
    *number = strtol(text, NULL, 10);
    return 0;
}

int clx_user_change_check(void) {
    long dumpable;
    int error = read_number(&dumpable_file, &dumpable);
    return error == 0 && dumpable == 1 ? EPERM : error;
}

int clx_advantages_find(struct clx_advantages *advantages) {
    enum { NICE_ZERO = 20 };
    long score;
    // Where nobody can write the file, nobody has used it to give us a score.
    int error = read_number(&score_file, &score);
    if (error != 0) return error;
    // The system calls themselves, unlike the library's functions: 20 - nice, and never ambiguous.
    long priority = syscall(SYS_getpriority, PRIO_PROCESS, 0);
    long policy = syscall(SYS_sched_getscheduler, 0);
    if (priority < 0 || policy < 0) return errno;
    policy &= ~SCHED_RESET_ON_FORK;
    *advantages = (struct clx_advantages){
        .nice = priority > NICE_ZERO,
        .policy = policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE,
        .out_of_memory_score = score < 0,
    };
    return 0;
}

int clx_advantages_give_up(const struct clx_advantages *advantages) {
    if (advantages->policy) {
        const struct sched_param parameters = {0};
        if (syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &parameters) < 0) return -1;
    }
    if (advantages->nice && syscall(SYS_setpriority, PRIO_PROCESS, 0, 0) < 0) return -1;
    if (!advantages->out_of_memory_score) return 0;
    // Before root is given up: root's writing also keeps the user from lowering it again.
    const int file = clx_proc_open(score_file.path, O_WRONLY);
    if (file < 0) return -1;
    long written = syscall(SYS_write, file, "0", 1);
    const int error = errno;
    syscall(SYS_close, file);
    errno = error;
    return written == 1 ? 0 : -1;
}

/// A session keyring of its own: the tasks of all users would share the caller's.
///
/// Made by root, so that it does not count against the user's quota of keys; whose session it is
/// possesses it, which is the permission that counts (keyrings(7)).
static int leave_session_keyring(void) {
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0) return 0;
    // No keys in this kernel, or none in this container: then nobody has any.
    return errno == ENOSYS || errno == EPERM ? 0 : -1;
}

/// After the change of user, which leaves a caller that is not root all it has. An empty
/// inheritable set empties the ambient set as well (capabilities(7)); the permitted set of a task
/// of root is what it gets at its execve(2) in any case.
static int drop_capabilities(uid_t user) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    if (user == 0) {
        if (syscall(SYS_capget, &header, sets) < 0) return -1;
        for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) sets[i].inheritable = 0;
    }
    return (int)syscall(SYS_capset, &header, sets);
}

/// The session it is counted in is new too. Where there is no audit, in a container that may not set it, and where it cannot be
/// changed any more, the caller's stays.
void clx_set_login_user(const struct clx_spawn_request *request) {
    char text[16];
    char *digit = text + sizeof text;
    uid_t user = request->user;
    if (!request->changes_user) return;
    do *--digit = (char)('0' + user % 10);
    while ((user /= 10) > 0);
    const int file = clx_proc_open("/proc/self/loginuid", O_WRONLY);
    if (file < 0) return;
    syscall(SYS_write, file, digit, text + sizeof text - digit);
    syscall(SYS_close, file);
}

/// Until the execve(2) the new user's process has the memory of the caller. It is safe from that
/// user because a change of user makes the memory undumpable (PR_SET_DUMPABLE), which closes it to
/// ptrace(2), /proc/PID/mem and /proc/PID/fd: with the new credentials, and not after them
/// (commit_creds in the kernel), unless fs.suid_dumpable is 1, for which see
/// `clx_user_change_check`. Where that is 2 a core dump would still be made, of all of the caller's
/// memory; the 0 that is set below forbids that too, and a program that is executed is dumpable
/// again by itself. What follows until the execve(2) does not change it again. The caller must never
/// make it dumpable again: the child of another of its threads may be just here.
int clx_change_user(const struct clx_spawn_request *request) {
    if (!request->changes_user) return 0;
    if (leave_session_keyring() < 0) return -1;
    // The library's setuid() would signal the threads of the parent, whose memory this is.
    if (syscall(SYS_setgroups, request->group_count, request->groups) < 0) return -1;
    if (syscall(SYS_setresgid, request->group, request->group, request->group) < 0) return -1;
    if (syscall(SYS_setresuid, request->user, request->user, request->user) < 0) return -1;
    if (syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -1;
    return drop_capabilities(request->user);
}
