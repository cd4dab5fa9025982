#include "clinux_remover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"

enum {
    /// Bytes of names that wait: some thousand names.
    NAMES_BYTES = 4 << 20,
    /// Between two looks whether those with nothing to do have ended.
    REST_MS = CLX_REMOVER_IDLE_MS + 500,
    /// How many times longer than one that says nothing all are waited for at the end, and one that is not there yet.
    END_FACTOR = 10,
    DEPTH_MAX = 16,
    /// About fifty names.
    ENTRIES_BYTES = 1536,
};

// MARK: - In its processes: async-signal-safe calls only

static void remove_below(int parent, const char *name, int depth);

static void remove_name(int parent, const char *name, int depth) {
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0) return;
    if (errno == ENOTDIR) {
        unlinkat(parent, name, 0);
    } else if ((errno == ENOTEMPTY || errno == EBUSY) && depth < DEPTH_MAX) {
        remove_below(parent, name, depth);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
}

/// Folders and sockets alone: a control group has files that nobody can remove.
static void remove_below(int parent, const char *name, int depth) {
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    long length;
    while ((length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
        for (long at = 0; at < length;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            at += entry->d_reclen;
            const bool is_removed = entry->d_type == DT_DIR || entry->d_type == DT_SOCK;
            if (is_removed && entry->d_name[0] != '.') remove_name(folder, entry->d_name, depth + 1);
        }
    }
    close(folder);
}

_Noreturn void clx_remover_work(int names, int owner) {
    static char name[PATH_MAX];
    prctl(PR_SET_NAME, "bgtask-remover", 0, 0, 0);
    send(owner, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    for (;;) {
        struct pollfd waiting = {.fd = names, .events = POLLIN};
        if (poll(&waiting, 1, CLX_REMOVER_IDLE_MS) == 0) _exit(0);
        const ssize_t length = recv(names, name, sizeof name - 1, MSG_DONTWAIT);
        if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) _exit(0);
        if (length < 0) continue;
        name[length] = '\0';
        remove_name(AT_FDCWD, name, 0);
        // Back from there, all of it has been let go of.
        send(owner, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

// MARK: - Who they work for

int clx_remover_begin(struct clx_remover *remover, int folder) {
    const int bytes = NAMES_BYTES;
    *remover = (struct clx_remover){.folder = folder};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, remover->names) < 0) return errno;
    // For root; others have what the kernel gives them.
    setsockopt(remover->names[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    return 0;
}

int clx_remover_remove(struct clx_remover *remover, const char *name) {
    const size_t length = strnlen(name, PATH_MAX);
    if (length == 0 || length >= PATH_MAX) return length == 0 ? EINVAL : ENAMETOOLONG;
    while (send(remover->names[0], name, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/// Whether names wait.
static bool is_busy(const struct clx_remover *remover) {
    int unread = 0;
    return ioctl(remover->names[0], SIOCOUTQ, &unread) < 0 || unread > 0;
}

int clx_remover_next_look(const struct clx_remover *remover) {
    if (is_busy(remover)) return CLX_REMOVER_HELD_UP_MS;
    return remover->count > 0 ? REST_MS : -1;
}

/// Takes what one has said. Returns whether it has said something: that it is there, or has removed something.
static bool hear(struct clx_remover *remover, int place) {
    struct clx_remover_process *process = &remover->processes[place];
    char said;
    bool has_said = false;
    ssize_t length;
    while ((length = recv(process->socket, &said, sizeof said, MSG_DONTWAIT)) > 0) has_said = true;
    process->is_there |= has_said;
    if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(process->socket);
        *process = remover->processes[--remover->count];
    }
    return has_said;
}

/// Whether none of them has said anything. One that is not there yet, as where all numbers of processes are taken, is waited for.
static bool are_held_up(struct clx_remover *remover) {
    bool are_held_up = true;
    for (int place = remover->count - 1; place >= 0; place--) {
        if (hear(remover, place)) are_held_up = false;
    }
    for (int place = 0; place < remover->count; place++) are_held_up &= remover->processes[place].is_there;
    return are_held_up;
}

bool clx_remover_lacks_process(struct clx_remover *remover, uint64_t now) {
    if (!is_busy(remover)) {
        remover->waits_since = 0;
        are_held_up(remover);
        return false;
    }
    if (remover->count == 0) return true;
    if (remover->waits_since == 0) remover->waits_since = now;
    if (now - remover->waits_since < CLX_REMOVER_HELD_UP_MS * 1000000ULL) return false;
    remover->waits_since = now;
    return are_held_up(remover) && remover->count < CLX_REMOVERS_MAX;
}

int clx_remover_employ(struct clx_remover *remover, int closer) {
    const int error = clx_closer_become_remover(closer, remover->folder, remover->names[1]);
    if (error != 0) {
        close(closer);
        return error;
    }
    remover->processes[remover->count++] = (struct clx_remover_process){.socket = closer};
    remover->waits_since = 0;
    return 0;
}

/// Waits for a word of any of them, so long at most. Returns whether one has said something.
static bool wait_for_word(struct clx_remover *remover, long milliseconds) {
    struct pollfd sockets[CLX_REMOVERS_MAX];
    const int count = remover->count;
    for (int place = 0; place < count; place++) {
        sockets[place] = (struct pollfd){.fd = remover->processes[place].socket, .events = POLLIN};
    }
    const bool has_said = poll(sockets, (nfds_t)count, (int)milliseconds) > 0;
    // One that has ended is replaced by the last.
    for (int place = count - 1; place >= 0; place--) {
        if (sockets[place].revents != 0) hear(remover, place);
    }
    return has_said;
}

static long milliseconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

bool clx_remover_end(struct clx_remover *remover, int milliseconds) {
    struct timespec begin, heard;
    shutdown(remover->names[0], SHUT_WR);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    heard = begin;
    while (remover->count > 0) {
        bool are_there = true;
        for (int place = 0; place < remover->count; place++) are_there &= remover->processes[place].is_there;
        const long left_of_all = milliseconds * END_FACTOR - milliseconds_since(&begin);
        const long left_of_pause = are_there ? milliseconds - milliseconds_since(&heard) : left_of_all;
        const long left = left_of_all < left_of_pause ? left_of_all : left_of_pause;
        if (left <= 0) break;
        if (wait_for_word(remover, left)) clock_gettime(CLOCK_MONOTONIC, &heard);
    }
    const bool have_ended = remover->count == 0;
    while (remover->count > 0) close(remover->processes[--remover->count].socket);
    close(remover->names[0]);
    close(remover->names[1]);
    return have_ended;
}
