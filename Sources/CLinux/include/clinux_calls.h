// Thin wrappers for what Glibc's module does not show to Swift. All set errno and return -1
// on failure, as system calls do.
#ifndef CLINUX_CALLS_H
#define CLINUX_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/xattr.h>

/// pipe2(2); close-on-exec. The reading end comes first.
int clx_pipe(int ends[2]);

/// accept4(2): non-blocking, close-on-exec; the peer's address is not asked for.
int clx_accept(int listener);

/// Opens a folder, close-on-exec and for paths alone (O_PATH); ELOOP where a link is on the way and none may be.
int clx_open_folder(const char *path, bool follows_links);

/// pidfd_open(2); close-on-exec.
int clx_pidfd_open(pid_t pid);

/// pidfd_send_signal(2).
int clx_pidfd_send_signal(int pidfd, int number);

/// What processes used, as getrusage(2) has it: a process and what it waited for, the memory that of
/// the largest among them.
struct clx_use {
    uint64_t cpu_us;
    uint64_t memory_peak_bytes;
};

/// How a process ended: waitid(2)'s si_code and si_status, and what it used.
struct clx_exit {
    pid_t pid;
    bool was_signalled;
    int status;
    struct clx_use use;
};

/// getrusage(2) of the children that this process has reaped, and what they had waited for.
struct clx_use clx_children_use(void);

/// Reaps the child behind a pidfd without waiting. Returns 1 with `end` filled in, 0 while it runs.
int clx_reap_pidfd(int pidfd, struct clx_exit *end);

/// Looks how a child has ended, and leaves it to be reaped. Return as `clx_reap_pidfd`.
int clx_end_of_pidfd(int pidfd, struct clx_exit *end);
int clx_end_of(pid_t pid, struct clx_exit *end);

/// Reaps one child, or any where `pid` is 0, without waiting. Returns 1, or 0 while it runs.
int clx_reap(pid_t pid, struct clx_exit *end);

/// SO_PEERCRED of a connected Unix socket.
int clx_peer_credentials(int socket, pid_t *pid, uid_t *user, gid_t *group);

/// SO_PEERPIDFD of a connected Unix socket: a pidfd of the process that connected, close-on-exec. Fails
/// with ENOPROTOOPT before Linux 6.5.
int clx_peer_pidfd(int socket);

/// The day since 1970-01-01 on which an account expires, from shadow(5); -1 for never. Returns 0 or an errno:
/// ENOENT where nothing is known of it there. It may ask a server, and only root is told.
int clx_account_expiry(const char *name, long *day);

/// SO_PEERGROUPS: up to `capacity` groups. Returns their number; where that is larger than
/// `capacity`, nothing was written.
long clx_peer_groups(int socket, gid_t *groups, size_t capacity);

/// Has each datagram come with who sent it (unix(7), SO_PASSCRED).
int clx_pass_credentials(int socket);

/// memfd_create(2); close-on-exec.
int clx_memory_file(const char *name);

/// Reads the beginning of an open file of /proc or /sys, a page at most, in one call, and finds there the
/// number behind a word that a line begins with; spaces and tabs may stand between. Returns 1, 0 where there
/// is no such line with a number that `number` can hold, or -1.
int clx_number_after(int file, const char *word, uint64_t *number);

/// As above, for the two numbers of cgroup.events: whether a living process is in the group or below, and
/// whether it is frozen. What is not there is not so. Returns 0 or -1.
int clx_group_events(int file, bool *is_populated, bool *is_frozen);

/// PR_SET_CHILD_SUBREAPER: orphaned descendants become children of this process.
int clx_become_subreaper(void);

/// Sees to it that children that end wait to be reaped: a SIGCHLD that is ignored, which a process
/// may inherit, has the kernel reap them (sigaction(2)).
void clx_keep_ended_children(void);

/// What names a file for as long as it is there.
struct clx_identity {
    uint32_t device_major, device_minor;
    uint64_t inode;
};

/// Reads the identity of a file without asking the server of its file system, which may never answer.
int clx_known_identity(int folder, const char *path, struct clx_identity *identity);

/// A descriptor that is readable when children have ended (signalfd(2)), as long as every thread has SIGCHLD
/// blocked, which the calling one has from then on; close-on-exec.
int clx_watch_children(void);

/// Takes what made that descriptor readable.
void clx_children_watched(int file);

/// readlink(2) of /proc/self/exe: the number of bytes, with no NUL behind them.
long clx_own_executable(uint8_t *path, size_t capacity);

/// What strerror(3) says, without its shared buffer.
const char *clx_error_text(int error);

/// SIGRTMIN and SIGRTMAX, which are not constants.
int clx_signal_realtime_min(void);
int clx_signal_realtime_max(void);

#endif
