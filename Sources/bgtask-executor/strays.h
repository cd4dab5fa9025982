// Processes that have left the group of their command, as by su(1) or `systemd-run --scope`.
//
// This process is the subreaper of all commands, so that whatever outlives its own parents descends from it. A look at all
// processes of the machine finds those that descend from it and are in no group of a command. It is taken in slices, one a
// turn, and only where somebody may have left.
#ifndef STRAYS_H
#define STRAYS_H

#include <stdbool.h>

#include "command.h"

/// Learns what this process itself lives in, and how the group is called that the commands' are made in, whose folder is given.
/// Returns 0 or an errno.
int strays_begin(int folder);

/// The program of a child of a command runs: what the audit knows it by, or UINT32_MAX.
uint32_t strays_session(pid_t process);

/// Whether no process is left of a command that has no child and nobody in its group. If not, those are killed, and
/// `command_strays_are_gone` is called when none is left.
bool strays_are_gone(struct command *command);

/// Passes a signal on to those of a command that have left. For SIGKILL, also to those that leave from now on.
void strays_signal(struct command *command, int number);

/// Stops those of a command, or lets those go on that were stopped.
void strays_freeze(struct command *command, bool is_frozen);

/// A child that was no command's was reaped.
void strays_reaped(pid_t process);

/// Looks at some processes, if there is a reason. Returns the milliseconds until it has to be called again, or -1.
int strays_turn(void);

/// The oldest report of a process of no command that is untold, or NULL; and drops it.
const struct executor_record *strays_untold(void);
void strays_told(void);

#endif
