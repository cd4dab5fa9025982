// The control group of one command (cgroups(7), version 2).
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "CLinux.h"

struct group {
    uint64_t number;
    /// -1 where there is none.
    int folder;
    /// cgroup.events, in which a change makes EPOLLPRI.
    int events;
};

struct group_state {
    bool is_populated;
    bool is_frozen;
};

/// Writes to a file of a group. Returns 0 or an errno.
int group_write(int folder, const char *name, const char *text);

/// Has the memory and the processes of the groups in a folder counted, as far as the kernel does that there.
void group_pass_controllers(int folder);

/// Opens the folder that holds the groups, kills what an earlier executor left in them, and removes them. Returns 0 or an
/// errno; EBUSY where something does not end.
int groups_open(const char *folder);

/// That folder, for the daemon to look into.
int groups_folder(void);

/// Makes a group. Returns 0 or an errno.
int group_make(struct group *group, uint32_t processes_max);

/// Reads how it is, which takes its readiness away. A group that is gone is empty.
struct group_state group_read(const struct group *group);

/// Writes to cgroup.freeze. Returns 0 or an errno.
int group_freeze(const struct group *group, bool is_frozen);

/// Sends SIGKILL to all in it and below (cgroup.kill). Returns 0 or an errno.
int group_kill(const struct group *group);

/// Sends a signal to all in it and below, and to `first` before the others. What a process starts after it got the signal
/// is spared: it may be what handles it. Returns 0 or an errno; `signalled` is how many got it, and `had_first` whether `first`
/// is in it.
int group_signal(const struct group *group, int number, pid_t first, uint32_t *signalled, bool *had_first);

/// What its processes have used so far; zero where the kernel does not count it.
struct clx_use group_use(const struct group *group);

/// Removes it, and what its processes made below it. Returns 0 or an errno; it stays open where that fails.
int group_remove(struct group *group);

/// Closes what is open of it.
void group_close(struct group *group);

#endif
