// The process that holds those of one command together where there are no control groups.
//
// As their subreaper it becomes the parent of whatever they leave behind, so that "no child left" means that nothing of the
// command is left. It is forked from the executor, and runs no program of its own.
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "CLinux.h"
#include "work.h"

enum supervisor_order_kind {
    /// Send a signal to all; those that were frozen go on before, which is answered as THAW is.
    ORDER_SIGNAL,
    /// Kill all, and whoever comes after them. Answered by TOLD_KILLING each time.
    ORDER_KILL,
    /// Stop all. Answered by TOLD_FROZEN or TOLD_FREEZE_FAILED, and by nothing where another order comes before that.
    ORDER_FREEZE,
    /// Let those go on that were frozen. Answered by TOLD_THAWED, whether there were any or not.
    ORDER_THAW,
    /// Begin the command of the handler.
    ORDER_HANDLER,
};

struct supervisor_order {
    enum supervisor_order_kind kind;
    /// Of SIGNAL.
    int signal;
    /// Of SIGNAL, FREEZE and THAW: comes back with the answer.
    uint32_t number;
};

enum supervisor_report_kind {
    /// A child runs its program: `pid`. Or it does not: `stage`, `error`.
    TOLD_STARTED,
    /// A child is over, which comes in each case: `end`.
    TOLD_ENDED,
    TOLD_KILLING,
    TOLD_FROZEN,
    TOLD_THAWED,
    /// Not all could be stopped, and all go on: `error`.
    TOLD_FREEZE_FAILED,
    /// None is left: `use`. It exits next.
    TOLD_GONE,
};

/// Both ends run the same program.
struct supervisor_report {
    enum supervisor_report_kind kind;
    bool is_of_handler;
    pid_t pid;
    enum clx_stage stage;
    int error;
    uint32_t number;
    struct clx_exit end;
    struct clx_use use;
};

/// What a supervisor takes over.
struct supervisor_start {
    const struct work *work;
    /// Its end of a SOCK_SEQPACKET pair. At the end of the other one it kills all.
    int control;
    /// -1: an empty one.
    int input;
    const int *output;
    /// Stays open as long as the supervisor is there.
    int lock;
};

/// Becomes the supervisor of a command, in a child that was just forked.
_Noreturn void supervisor_run(const struct supervisor_start *start);

#endif
