// One command: its processes, its times, and what the daemon has not been told of it yet.
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "CLinux.h"
#include "executor_record.h"
#include "executor_work.h"
#include "group.h"
#include "loop.h"

/// What becomes of a command.
enum phase {
    /// Its child has not run the program yet. To RUNNING, FAILED or GONE.
    PHASE_STARTING,
    /// Processes of it may be there. To GONE.
    PHASE_RUNNING,
    /// It could not be started; nothing is left of it.
    PHASE_FAILED,
    /// It ran, and no process of it is left.
    PHASE_GONE,
};

/// What the daemon is to be told, as bits.
enum report {
    REPORT_STARTED = 1 << 0,
    REPORT_NOT_STARTED = 1 << 1,
    REPORT_HANDLER = 1 << 2,
    REPORT_LIMIT = 1 << 3,
    REPORT_FROZEN = 1 << 4,
    REPORT_EXITED = 1 << 5,
    REPORT_HANDLER_EXITED = 1 << 6,
    REPORT_GONE = 1 << 7,
    REPORT_ENTRY = 1 << 8,
};

/// One child: that of the command, or that which is run as its handler.
struct child {
    struct command *command;
    struct source starting;
    struct source running;
    struct clx_fork fork;
    /// Whether it has not been reaped.
    bool is_there;
    bool has_started;
    bool has_exited;
    enum clx_stage stage;
    int error;
    struct clx_exit exit;
    /// Nanoseconds on CLOCK_MONOTONIC.
    uint64_t started_at, exited_at;
    struct child *next;
};

struct command {
    uint64_t key;
    uint32_t attempt;
    enum phase phase;
    struct group group;
    struct source group_source;
    struct child main, handler;
    /// The handler as it was when its end became something to tell: it may run again before that is told.
    struct child handler_over;
    /// The reading ends of its output, for the daemon; and a descriptor that is kept for it, or -1.
    int output[2];
    int kept;
    /// The writing ends, for a handler, until the command has ended.
    int writing[2];

    struct executor_work work;
    void *work_bytes;
    size_t work_length;

    uint32_t handler_signal;
    uint32_t fired;
    /// 0: not any more, or never.
    uint64_t handler_at, limit_at;
    uint64_t grace;
    uint64_t fired_at, limit_fired_at;
    bool is_frozen;
    bool wants_frozen;
    struct group_use use;
    uint64_t gone_at;

    /// `report` bits.
    unsigned untold;
    struct command *next_untold;
    bool is_queued;
    /// Its place among the deadlines, or -1.
    long place;
    struct command *next;
};

/// Starts a command. The descriptors are the command's from now on, whatever becomes of it: the work, then those
/// that the flags announce. Returns 0 or an errno; EEXIST for a key that is not forgotten.
int command_start(const struct executor_record *order, const int *descriptors, uint64_t now);

/// Takes back the end of a command of an earlier executor, which has no processes, groups and descriptors any more.
/// Returns 0 or an errno.
int command_restore(const struct executor_record *entry);

/// All of a command, as ENTRY tells it.
struct executor_record command_entry(const struct command *command);

struct command *command_find(uint64_t key);

/// Calls for each that is not forgotten.
void command_each(void (*call)(struct command *command));

uint64_t command_count(void);

/// Reaps a child that has ended, if a command waits for it. Returns whether one does.
bool command_reap(pid_t process);

int command_set_deadlines(struct command *command, const struct executor_record *order);
int command_signal(struct command *command, int number, uint32_t *signalled);
int command_kill(struct command *command);
int command_freeze(struct command *command, bool is_frozen);

/// Has the handler of each command fire now, and its limit a grace later at most.
void command_drain_all(void);

/// Lets go of a command that is over. Returns 0, or EBUSY while it is not.
int command_forget(struct command *command);

/// Fires what is due. Returns how many milliseconds are left to what is due next, or -1.
int command_fire_due(uint64_t now);

/// The next one that has something untold, which is not queued any more; NULL where there is none.
struct command *command_take_untold(void);

/// There is something to tell of a command.
void command_tell(struct command *command, unsigned reports);

#endif
