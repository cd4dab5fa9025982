// The control group of one command (cgroups(7), version 2).
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "CLinux.h"
#include "loop.h"

struct command;

struct group {
    uint64_t number;
    int folder;
    /// cgroup.events, in which a change makes EPOLLPRI.
    struct source events;
    /// Whose it is; NULL while it waits to be used again.
    struct command *command;
    /// cpu.stat, or -1 before that was read; and what it told when the command began.
    int cpu;
    uint64_t cpu_before_us;
    /// The bound of pids.max; 0: there is none.
    uint32_t processes_max;
    /// What is told when somebody changes something in it (inotify(7)); -1: nothing is.
    int watch;
    /// Whether it cannot be used again, since something of the command would show.
    bool is_worn;
    /// Whether the daemon may take it for that of the last command, and kill what is in it: that is not forgotten.
    bool is_remembered;
    /// Of those that wait to be used again, and of those that are watched.
    struct group *next, *next_watched;
};

struct group_state {
    bool is_populated;
    bool is_frozen;
};

/// Writes to a file of a group. Returns 0 or an errno.
int group_write(int folder, const char *name, const char *text);

/// Has the memory and the processes of the groups in a folder counted, as far as the kernel does that there.
void group_pass_controllers(int folder);

/// Opens the folder that holds the groups, kills what an earlier executor left in them, and removes them; what does not
/// end stays. Returns 0 or an errno.
int groups_open(const char *folder);

/// Removes those that wait to be used again, and waits a moment for that.
void groups_end(void);

/// That folder, for the daemon to look into.
int groups_folder(void);

/// Gives a command a group of its own, which may have been others' before. `changed` is called for what becomes of it. Returns
/// 0 or an errno.
int group_take(
    struct command *command, uint32_t processes_max, void (*changed)(struct source *source, uint32_t events));

/// Takes it back from its command, to be used again once that is forgotten, or removed with what processes made below it.
void group_give_back(struct group *group);

/// The command that had the group of this number is forgotten.
void group_forget(uint64_t number);

/// Reads how it is, which takes its readiness away. A group that is gone is empty.
struct group_state group_read(const struct group *group);

/// Writes to cgroup.freeze. Returns 0 or an errno.
int group_freeze(struct group *group, bool is_frozen);

/// Sends SIGKILL to all in it and below (cgroup.kill). Returns 0 or an errno.
int group_kill(struct group *group);

/// Calls for each folder below one, the deepest first, with the folder above and its name. Returns the first errno that is not
/// ENOENT.
int group_each_below(int folder, int (*call)(int parent, const char *name, void *context), void *context);

/// What its processes have used so far; zero where the kernel does not count it.
struct clx_use group_use(struct group *group);

#endif
