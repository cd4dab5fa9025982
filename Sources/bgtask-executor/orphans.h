// The children of this process that it has not started: what commands left behind when they ended themselves.
//
// This process is the subreaper of all commands, so that whatever outlives its own parents becomes its child. In a count of its
// children each is looked at that is new, and remembered with the command it is of. A command is over when none of them that
// lives is its. So an end needs no look at all processes, and those of other commands do not hold it up: where there are
// many, it is told before the count, unless somebody of its user has been seen outside of the groups.
#ifndef ORPHANS_H
#define ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

#include "command.h"

/// A child that this process has forked for itself, which lives where it does, is no orphan. It may be reaped like one.
/// Returns 0 or ENOMEM.
int orphans_spare(pid_t child);

/// Whether it is such a child.
bool orphans_are_spared(pid_t child);

/// A command is killed, or has no child and nobody in its group. `command_strays_are_gone` is called, maybe at once, when nobody
/// who has left it is there either; those are killed.
void orphans_settle(struct command *command);

/// A child that no command has started can be reaped, and is next.
void orphans_end(pid_t child);

/// A command is over.
void orphans_forget(struct command *command);

/// Goes on counting, if anybody waits for that. Returns the milliseconds until it has to be called again, or -1.
int orphans_turn(void);

#endif
