// Processes that have left the group of their command, as by su(1) or `systemd-run --scope`.
//
// This process is the subreaper of all commands, so that whatever outlives its own parents descends from it. A look at all
// processes of the machine finds those that descend from it and are in no group of a command. It is taken in slices, and only where
// somebody may have left. Others read what /proc says of them (readers.h); a pidfd that was opened before tells whether it is of
// the one that is meant.
#ifndef STRAYS_H
#define STRAYS_H

#include <stdbool.h>

#include "command.h"
#include "process.h"

/// Learns what this process itself lives in, and how the group is called that the commands' are made in, whose folder is given.
/// Returns 0 or an errno.
int strays_begin(int folder);

/// The program of a child of a command runs: what the audit knows it by, or UINT32_MAX.
uint32_t strays_session(pid_t process);

enum place {
    /// In the group of this process, where it belongs.
    PLACE_OWN,
    /// In the group of a command that goes on.
    PLACE_INSIDE,
    /// It has left that.
    PLACE_OUTSIDE,
    /// In the group of this process: whether it belongs there, its program tells.
    PLACE_UNSURE,
    /// It is gone.
    PLACE_NONE,
};

/// Where a process is that descends from here, with the name of its group and the command in whose group it is, or NULL.
enum place strays_place(pid_t process, char group[GROUP_NAME_BYTES], struct command **command);

/// Whether a user's command may have left somebody outside: one of root's, or of a user of whom that was seen before.
bool strays_may_be_of(uint32_t user);

/// Whose a process is that is outside, or has ended there, and descends from that child of this process, or is it; NULL where it
/// is of none.
struct command *strays_owner(const struct clx_looked *looked, pid_t top);

/// A child of this process is outside: tells of it, and kills it where it is of no command, or of one that comes to its end.
/// Returns its command, or NULL.
struct command *strays_found(const struct clx_looked *looked, const char *group);

/// Kills a child of this process that is outside, and its group like the following.
void strays_kill(struct command *command, pid_t child, const char *group);

/// One of a command is or was in a group elsewhere: all there are killed if they are the command's, that comes to its end, and
/// it was not enough to kill them one by one.
void strays_kill_group(struct command *command, const char *group);

/// Looks at all processes, as soon as that can begin.
void strays_look(void);

/// A command has no child and nobody in its group: calls `command_strays_are_gone` when looks find nobody else either. What they
/// find is killed.
void strays_settle(struct command *command);

/// Passes a signal on to those of a command that have left. For SIGKILL, also to those that leave from now on.
void strays_signal(struct command *command, int number);

/// Stops those of a command, or lets those go on that were stopped.
void strays_freeze(struct command *command, bool is_frozen);

/// Looks at some processes, if there is a reason. Returns the milliseconds until it has to be called again, or -1.
int strays_turn(void);

/// The oldest report of a process of no command that is untold, or NULL; and drops it.
const struct executor_record *strays_untold(void);
void strays_told(void);

#endif
