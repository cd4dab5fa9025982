// What the process that starts commands may have, and its commands must not.
#ifndef CLINUX_PRIVILEGES_H
#define CLINUX_PRIVILEGES_H

#include <stdbool.h>

#include "clinux_spawn.h"

/// Advantages that a child would inherit and that no user may give to themselves.
struct clx_advantages {
    /// A nice value below 0 (setpriority(2)).
    bool nice;
    /// A real-time scheduling policy (sched(7)).
    bool policy;
    /// An oom_score_adj below 0 (proc_pid_oom_score_adj(5)).
    bool out_of_memory_score;
};

/// Looks which of them the calling thread has. Returns 0 or an errno.
int clx_advantages_find(struct clx_advantages *advantages);

/// Gives them up, for the calling process alone. Only raw system calls, so that it can be called
/// in a child that shares its parent's memory. Returns -1 with errno on failure.
int clx_advantages_give_up(const struct clx_advantages *advantages);

/// Whether a change of user keeps the caller's memory from that user: it does not while
/// fs.suid_dumpable is 1 (proc_sys_fs(5)), which root may set at any time. Returns 0 or an errno.
int clx_user_change_check(void);

/// Tells the audit of the kernel for whom all that follows is done, as pam_loginuid(8) does for cron(8) and at(1). As above, and
/// before the caller's descriptors are closed; does nothing where the request names no user.
void clx_set_login_user(const struct clx_spawn_request *request);

/// Becomes the user of the request, with none of the caller's capabilities and keys; does nothing
/// where the request names no user. As above, raw system calls alone. Returns -1 with errno.
int clx_change_user(const struct clx_spawn_request *request);

#endif
