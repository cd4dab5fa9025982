// Starting a child: clone3(2) with a pidfd, into a cgroup where one is given.
#ifndef CLINUX_SPAWN_H
#define CLINUX_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Where the start of a process failed. The numbers are part of bgtask-executor's protocol (docs/executor.md).
enum clx_stage {
    CLX_STAGE_NONE = 0,
    /// Nothing was cloned: memory, process limits, the cgroup.
    CLX_STAGE_CLONE = 1,
    /// setsid(2), prctl(2), PR_SET_NO_NEW_PRIVS among them; the nice value, the scheduling policy and the out-of-memory score.
    CLX_STAGE_SESSION = 2,
    /// Resource limits.
    CLX_STAGE_LIMITS = 3,
    /// setgroups(2), setresgid(2), setresuid(2), capset(2), keyctl(2).
    CLX_STAGE_USER = 4,
    /// chdir(2).
    CLX_STAGE_DIRECTORY = 5,
    /// dup2(2), close_range(2).
    CLX_STAGE_DESCRIPTORS = 6,
    /// execve(2), the search along the path included.
    CLX_STAGE_EXEC = 7,
};

/// What to start, and in what surroundings. All pointers are borrowed for the call.
struct clx_spawn_request {
    /// NULL-terminated; the first is searched for along `search_path` unless it has a slash.
    char *const *arguments;
    /// NULL-terminated NAME=value strings: the whole environment.
    char *const *environment;
    /// NULL: the caller's own.
    const char *directory;
    /// Where to go if `directory` cannot be entered; NULL: the start fails then.
    const char *directory_fallback;
    /// Folders divided by colons; an empty string finds nothing.
    const char *search_path;
    /// Element i becomes descriptor i of the child; all others are closed there.
    const int *descriptors;
    uint32_t descriptor_count;
    /// A descriptor of the cgroup v2 folder to start in, or -1.
    int cgroup;
    uint32_t file_mode_mask;
    /// The soft RLIMIT_NOFILE of the child; 0 keeps the caller's.
    uint64_t open_files_soft;
    /// Whether no program that the child executes gives it rights it has not (PR_SET_NO_NEW_PRIVS).
    bool no_new_privileges;
    /// The signal the child gets when the calling thread ends, or 0.
    int parent_death_signal;
    /// Whether the caller has no signal that it handles or ignores, so that none has to be reset.
    bool signals_are_default;
    /// Whether the child becomes the user below (needs CAP_SETUID and CAP_SETGID). The caller is
    /// undumpable from then on (PR_SET_DUMPABLE), and has to stay so: with its memory the
    /// children of other threads would be open to their users.
    bool changes_user;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
};

struct clx_spawn_result {
    pid_t pid;
    /// Close-on-exec; -1 unless the start succeeded.
    int pidfd;
    enum clx_stage stage;
    int error;
};

/// Starts a process and returns when it runs the new program or has failed to.
///
/// The child shares the caller's memory until then, on a stack of its own, and makes
/// async-signal-safe calls only. The calling thread is suspended meanwhile (vfork(2));
/// other threads are not. Safe to call on several threads at once.
///
/// No child has a nice value or an oom_score_adj below 0 or a real-time scheduling policy, which
/// the caller may have. One that changes its user has a new session keyring, and no inheritable
/// or ambient capabilities; its user is its login user for the kernel's audit.
///
/// Returns 0, or the errno with `result->stage` saying where; nothing is left behind then:
/// no zombie, no descriptor.
int clx_spawn(const struct clx_spawn_request *request, struct clx_spawn_result *result);

/// A start that is under way in a child with memory of its own.
struct clx_fork {
    pid_t pid;
    /// Close-on-exec.
    int pidfd;
    /// Readable when the child runs its program or has failed to; non-blocking.
    int report;
};

/// Begins to start a process, and does not wait: what chdir(2) and execve(2) take on a file system that does not answer,
/// holds up that child alone.
///
/// The child has a copy of the caller's memory, and so shows nothing of what the caller gets later, nor can it change
/// anything there; for a small process, since a large one copies its page tables. What the request points to may go when
/// this returns. Not for a process with other threads that allocate memory.
///
/// Returns 0, or the errno with `stage` saying where; there is no child then.
int clx_fork_begin(const struct clx_spawn_request *request, struct clx_fork *fork, enum clx_stage *stage);

/// Looks whether the start is over: CLX_STAGE_NONE where the program runs, else what failed. The child has to be reaped and
/// `report` to be closed in each case. Returns false while it is under way.
bool clx_fork_result(const struct clx_fork *fork, enum clx_stage *stage, int *error);

#endif
