// What there is to tell of commands: which of them have something untold, and the records that tell it.
#ifndef REPORTS_H
#define REPORTS_H

#include "command.h"

/// What the daemon is to be told of a command, as bits, in the order in which it is told.
enum report {
    /// All of it at once, for a daemon that does not know it; what is true of it follows.
    REPORT_ENTRY = 1 << 0,
    REPORT_STARTED = 1 << 1,
    REPORT_NOT_STARTED = 1 << 2,
    REPORT_HANDLER = 1 << 3,
    REPORT_LIMIT = 1 << 4,
    REPORT_FROZEN = 1 << 5,
    REPORT_LEFT = 1 << 6,
    REPORT_EXITED = 1 << 7,
    REPORT_HANDLER_EXITED = 1 << 8,
    REPORT_GONE = 1 << 9,
};

/// There is something to tell of a command.
void reports_add(struct command *command, unsigned reports);

/// Whether any command has something untold.
bool reports_are_there(void);

/// The next command that has something untold, which is not queued any more; NULL where there is none.
struct command *reports_take(void);

/// One that was taken comes next again: what is told keeps its order, also that of several commands, since a group may be
/// another's after the end of one.
void reports_put_back(struct command *command);

/// A command is to be forgotten: nothing is told of it any more.
void reports_drop(struct command *command);

/// What follows the ENTRY of a command: all that is true of it.
unsigned reports_behind_entry(const struct command *command);

struct executor_record report_record(const struct command *command, enum report report);

/// That of a process that has left; `command` is NULL where it is of none.
struct executor_record report_left(const struct command *command, const struct left *left);

/// Takes a record of an earlier executor back into a command; a kind that is never written changes nothing.
void report_restore(struct command *command, const struct executor_record *record);

#endif
