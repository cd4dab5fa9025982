#include "clinux_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <shadow.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
#ifndef __WNOTHREAD
#define __WNOTHREAD 0x20000000
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int clx_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

int clx_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

enum { FOLDER_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

/// Opens a folder in another one, both for paths alone; ELOOP where the name is a link's.
static int open_folder_in(int above, const char *name, size_t length) {
    char word[NAME_MAX + 1];
    if (length > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(word, name, length);
    word[length] = '\0';
    const int folder = openat(above, word, FOLDER_FLAGS | O_NOFOLLOW);
    struct stat status;
    if (folder < 0 && errno == ENOTDIR && fstatat(above, word, &status, AT_SYMLINK_NOFOLLOW) == 0
        && S_ISLNK(status.st_mode)) errno = ELOOP;
    return folder;
}

int clx_open_folder(const char *path, bool follows_links) {
    if (follows_links) return open(path, FOLDER_FLAGS);
    // Not openat2(2), which RestrictSUIDSGID= of systemd takes from a service.
    int folder = open(*path == '/' ? "/" : ".", FOLDER_FLAGS);
    while (folder >= 0 && *(path += strspn(path, "/")) != '\0') {
        const size_t length = strcspn(path, "/");
        const int next = open_folder_in(folder, path, length);
        const int fault = errno;
        close(folder);
        errno = fault;
        folder = next;
        path += length;
    }
    return folder;
}

int clx_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0U);
}

int clx_pidfd_send_signal(int pidfd, int number) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0U);
}

/// The last number of a user that there is here, which by custom nobody has (4294967294; 65535 in most containers). 0: unknown.
static uid_t nobodys_number(void) {
    static uid_t number;
    static bool is_read;
    unsigned first, outside, count;
    FILE *map = is_read ? NULL : fopen("/proc/self/uid_map", "re");
    is_read |= map != NULL;
    while (map != NULL && fscanf(map, "%u %u %u", &first, &outside, &count) == 3) {
        if (first + count - 1 > number) number = first + count - 1;
    }
    if (map != NULL) fclose(map);
    return number;
}

/// How a thread gets the processor.
struct scheduling {
    /// As the kernel tells it (sched_getattr(2)), its own size first.
    _Alignas(8) char attributes[56];
    cpu_set_t processors;
};

static struct scheduling own_scheduling;
/// When it was last seen before a signal with a user's rights, and when there was one last; 0: never. On CLOCK_MONOTONIC, in seconds.
static time_t scheduling_at, lent_at;

enum {
    /// So long after the last such signal that user may still change what the kernel had allowed meanwhile.
    LENT_S = 60,
};

static time_t seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool read_scheduling(struct scheduling *scheduling) {
    memset(scheduling, 0, sizeof *scheduling);
    return syscall(SYS_sched_getattr, 0, scheduling->attributes, sizeof scheduling->attributes, 0) == 0
        && syscall(SYS_sched_getaffinity, 0, sizeof scheduling->processors, &scheduling->processors) >= 0;
}

void clx_scheduling_keep(void) {
    struct scheduling now;
    if (lent_at == 0 || scheduling_at == 0 || seconds_now() - lent_at > LENT_S || !read_scheduling(&now)) return;
    if (memcmp(now.attributes, own_scheduling.attributes, sizeof now.attributes) != 0) {
        syscall(SYS_sched_setattr, 0, own_scheduling.attributes, 0);
    }
    if (memcmp(&now.processors, &own_scheduling.processors, sizeof now.processors) != 0) {
        syscall(SYS_sched_setaffinity, 0, sizeof own_scheduling.processors, &own_scheduling.processors);
    }
}

/// Whoever has the effective uid of a process may change how that gets the processor (sched(7)), with all capabilities in a user
/// namespace of their own.
static void lend_scheduling(void) {
    const time_t now = seconds_now();
    if (scheduling_at == 0 || now - lent_at > LENT_S) scheduling_at = read_scheduling(&own_scheduling) ? now : 0;
    lent_at = now;
}

/// The bare calls: the library's change all threads. Root's number is kept as the saved one, to come back to; as the real one it
/// would reach root's processes, and with the user's there that user could reach this process.
int clx_pidfd_send_signal_as(uid_t user, int pidfd, int number) {
    if (user == 0 || geteuid() != 0) return clx_pidfd_send_signal(pidfd, number);
    const uid_t nobodys = nobodys_number();
    const pid_t parent = getppid();
    int at_its_end = 0;
    prctl(PR_GET_PDEATHSIG, &at_its_end);
    lend_scheduling();
    if (nobodys == 0 || syscall(SYS_setresuid, nobodys, user, 0) < 0) {
        errno = EAGAIN;
        return -1;
    }
    const int result = clx_pidfd_send_signal(pidfd, number), error = errno;
    // Allowed at all times; what it may lack is memory.
    while (syscall(SYS_setresuid, 0, 0, 0) < 0) {}
    clx_scheduling_keep();
    // That is gone with a change of user (prctl(2)).
    if (at_its_end != 0) prctl(PR_SET_PDEATHSIG, at_its_end);
    if (at_its_end != 0 && getppid() != parent) raise(at_its_end);
    errno = error;
    return result;
}

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static struct clx_use use(const struct rusage *usage) {
    return (struct clx_use){
        .cpu_us = microseconds(usage->ru_utime) + microseconds(usage->ru_stime),
        .memory_peak_bytes = (uint64_t)usage->ru_maxrss * 1024,
    };
}

struct clx_use clx_children_use(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_CHILDREN, &usage);
    return use(&usage);
}

/// The library's waitid(2) does not ask for the fifth argument that the kernel's has.
static int wait_for(idtype_t type, id_t id, int options, struct clx_exit *end) {
    siginfo_t info = {0};
    struct rusage usage = {0};
    while (syscall(SYS_waitid, type, id, &info, WEXITED | WNOHANG | options, &usage) < 0) {
        if (errno != EINTR) return -1;
    }
    if (info.si_pid == 0) return 0;
    *end = (struct clx_exit){
        .pid = info.si_pid,
        .was_signalled = info.si_code != CLD_EXITED,
        .status = info.si_status,
        .use = use(&usage),
    };
    return 1;
}

int clx_reap_pidfd(int pidfd, struct clx_exit *end) {
    return wait_for((idtype_t)P_PIDFD, (id_t)pidfd, 0, end);
}

int clx_end_of_pidfd(int pidfd, struct clx_exit *end) {
    return wait_for((idtype_t)P_PIDFD, (id_t)pidfd, WNOWAIT, end);
}

int clx_end_of(pid_t pid, struct clx_exit *end) {
    return wait_for(P_PID, (id_t)pid, WNOWAIT, end);
}

int clx_reap(pid_t pid, struct clx_exit *end) {
    return pid == 0 ? wait_for(P_ALL, 0, 0, end) : wait_for(P_PID, (id_t)pid, 0, end);
}

int clx_peer_credentials(int socket, pid_t *pid, uid_t *user, gid_t *group) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    *pid = credentials.pid;
    *user = credentials.uid;
    *group = credentials.gid;
    return 0;
}

int clx_peer_pidfd(int socket) {
    int pidfd = -1;
    socklen_t length = sizeof pidfd;
    return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) < 0 ? -1 : pidfd;
}

int clx_account_expiry(const char *name, long *day) {
    enum { BYTES_MAX = 1 << 20 };
    int error = ERANGE;
    for (size_t bytes = 1024; error == ERANGE && bytes <= BYTES_MAX; bytes *= 2) {
        char *buffer = malloc(bytes);
        if (buffer == NULL) return ENOMEM;
        struct spwd record;
        struct spwd *found = NULL;
        do error = getspnam_r(name, &record, buffer, bytes, &found);
        while (error == EINTR);
        if (error == 0 && found == NULL) error = ENOENT;
        if (error == 0) *day = found->sp_expire;
        free(buffer);
    }
    return error;
}

long clx_peer_groups(int socket, gid_t *groups, size_t capacity) {
    socklen_t length = (socklen_t)(capacity * sizeof *groups);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0 && errno != ERANGE) {
        return -1;
    }
    return (long)(length / sizeof *groups);
}

int clx_pass_credentials(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

int clx_memory_file(const char *name) {
    return memfd_create(name, MFD_CLOEXEC);
}

int clx_become_subreaper(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void clx_keep_ended_children(void) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) < 0) return;
    if (action.sa_handler != SIG_IGN && (action.sa_flags & SA_NOCLDWAIT) == 0) return;
    if (action.sa_handler == SIG_IGN) action.sa_handler = SIG_DFL;
    action.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
}

int clx_known_identity(int folder, const char *path, struct clx_identity *identity) {
    struct statx status;
    if (statx(folder, path, AT_STATX_DONT_SYNC, STATX_INO, &status) < 0) return -1;
    *identity = (struct clx_identity){status.stx_dev_major, status.stx_dev_minor, status.stx_ino};
    return 0;
}

int clx_watch_children(void) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (pthread_sigmask(SIG_BLOCK, &child, NULL) != 0) return -1;
    return signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
}

void clx_children_watched(int file) {
    struct signalfd_siginfo ignored;
    while (read(file, &ignored, sizeof ignored) > 0) {}
}

long clx_own_executable(uint8_t *path, size_t capacity) {
    return readlink("/proc/self/exe", (char *)path, capacity);
}

const char *clx_error_text(int error) {
    const char *text = strerrordesc_np(error);
    return text != NULL ? text : "Unknown error";
}

int clx_signal_realtime_min(void) {
    return SIGRTMIN;
}

int clx_signal_realtime_max(void) {
    return SIGRTMAX;
}
