#include "clinux_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <shadow.h>
#include <signal.h>
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
