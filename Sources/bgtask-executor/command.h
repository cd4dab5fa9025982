// One command: its processes, its times, and what the daemon has not been told of it yet.
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "CLinux.h"
#include "executor_record.h"
#include "group.h"
#include "loop.h"
#include "work.h"

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

/// Why all commands are being ended.
enum drain {
    DRAIN_NONE,
    /// No daemon was there for too long.
    DRAIN_ABSENCE,
    /// This process ends, or was told to end them.
    DRAIN_STOP,
};

/// What a command waits for that has no child and nobody in its group, until it is over (orphans.h, strays.h).
enum wait {
    WAITS_NOT,
    /// For a count of the children of this process.
    WAITS_FOR_COUNT,
    /// For a look at all processes.
    WAITS_FOR_LOOK,
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
    /// What the audit knows it by, and all that it starts; UINT32_MAX where that is no other than this process's.
    uint32_t session;
    struct child *next;
};

/// The process that holds those of a command together where there are no groups.
struct supervisor {
    struct child process;
    /// The socket to it.
    struct source reports;
    /// Whether it has told that it kills, since it was asked last.
    bool has_answered;
    /// Whether it has told that nothing of the command is left; and whether it has ended before.
    bool has_told_end, is_lost;
    /// Numbers the orders that stop its processes or let them go on, of which only the last one's answer counts.
    uint32_t stillness_order;
    /// Whether a FREEZE or THAW waits for that answer.
    bool owes_stillness;
};

/// A process that has left the group of its command.
struct left {
    /// 0: none has.
    pid_t pid;
    uint32_t user;
    uint64_t moment;
    /// The end of the name of the group that it is in.
    char group[EXECUTOR_TEXT_BYTES];
};

struct command {
    uint64_t key;
    uint32_t attempt;
    enum phase phase;
    /// It is of an earlier executor, and on disk.
    bool is_restored;
    /// One of the two is its home. The group is NULL where it has none any more, and its number stays.
    struct group *group;
    struct supervisor supervisor;
    struct child main, handler;
    /// The handler as it was when its end became something to tell: it may run again before that is told. It has no command
    /// while there has been none.
    struct child handler_over;
    /// The reading ends of its output, for the daemon; and a descriptor that is kept for it, or -1.
    int output[2];
    int kept;
    /// The writing ends, for a handler, until the command has ended.
    int writing[2];

    struct work work;
    /// Whether a command is run as the handler.
    bool has_handler;

    uint32_t handler_signal;
    uint32_t fired;
    /// 0: not any more, or never.
    uint64_t handler_at, limit_at;
    uint64_t grace;
    bool limit_has_fired;
    uint64_t fired_at, limit_fired_at;
    /// What it is being ended with all others for; and what of that its handler has fired for.
    enum drain drained_for, fired_for;
    /// When it was killed since its daemon is gone, and nobody asks how it ended; 0: it was not.
    uint64_t cut_off_at;
    bool is_frozen;
    bool wants_frozen;
    uint64_t frozen_at;
    /// Why the last freeze was given up, or 0.
    int freeze_error;
    /// Whether all stand still and are looked at, before that is told; and whether that was undone, and they do still.
    bool is_checked, is_thawing;
    /// When its home has to have answered; 0: nothing is waited for.
    uint64_t answer_by;
    struct clx_use use;
    uint64_t gone_at;

    uint64_t group_number;
    bool changes_user;
    /// Than this process: what its processes have, this one does not touch.
    bool is_of_other_user;

    // What its processes are looked for by that have left its group (strays.h).
    uint32_t user;
    /// In clock ticks since boot.
    uint64_t began_at;
    /// The first that was found.
    struct left left;
    /// How many the last look has found.
    uint32_t strays;
    bool was_killed;
    /// Signals, as bits, that they get with the next look, and with the one under way.
    uint64_t owed_signals, passed_signals;
    /// What shows whether the command is over, the number of that count or look, and how often there was one already.
    enum wait waits;
    uint64_t waits_for;
    int look_rounds;
    /// Whether one of it has ended meanwhile, and when the next count comes: at once, or at that time.
    bool was_stirred;
    uint64_t counts_at;
    /// When a group elsewhere may be killed next.
    uint64_t kills_group_at;
    struct command *next_waiting;
    /// The children of this process that are its, without those that it was started as.
    struct orphan *orphans;

    /// What the daemon wants kept.
    uint64_t notes[EXECUTOR_NOTES];

    /// `report` bits.
    unsigned untold;
    /// A list is not over before all of it is told.
    bool is_listed;
    struct command *next_untold;
    bool is_queued;
    /// Its place among the deadlines, or -1.
    long place;
    struct command *next, *next_in_group;
};

/// Starts a command. The descriptors are the command's from now on, whatever becomes of it: the work, then those
/// that the flags announce. Returns 0 or an errno; EEXIST for a key that is not forgotten.
int command_start(const struct executor_record *order, const int *descriptors, uint64_t now);

/// Takes back a command of an earlier executor by its ENTRY: it has no processes, groups and descriptors any more. Returns 0
/// or an errno.
int command_restore(const struct executor_record *entry);

/// Reaps a child that has ended, if a command waits for it. Returns whether one does.
bool command_reap(pid_t process);

int command_set_deadlines(struct command *command, const struct executor_record *order);
int command_signal(struct command *command, int number, uint32_t *signalled);
int command_kill(struct command *command);
int command_freeze(struct command *command, bool is_frozen);

/// Kills all that runs, and cuts off what there would be to tell of it; again until it returns true.
bool command_cut_off_all(void);

/// When it was killed at its end, so that nothing of it runs any more but what cannot end; 0 where it was not.
uint64_t command_killed_at(const struct command *command);

/// How many have begun and are not over.
uint64_t command_living_count(void);

/// Has the handler of each command fire now, and its limit a grace later at most.
void command_drain_all(enum drain reason);

/// One of it has another user by now, who may not be stopped: all go on.
void command_refuse_freeze(struct command *command);

/// No process of it is left outside of its group.
void command_strays_are_gone(struct command *command);

/// Whether nothing of it is left but what there is to tell.
bool command_is_over(const struct command *command);

/// Lets go of a command that is over. `is_shared`: whether a daemon has what its user can send to, too.
void command_forget(struct command *command, bool is_shared);

/// Lets go of what users can send to, before this process ends.
void command_let_go_of_users(bool is_shared);

/// Fires what is due. Returns how many milliseconds are left to what is due next, or -1.
int command_fire_due(uint64_t now);

#endif
