// What the daemon and bgtask-executor say to each other: records of one size over a SOCK_SEQPACKET socket, some with
// descriptors beside them (SCM_RIGHTS). docs/executor.md describes them. Both are built from this file.
#ifndef EXECUTOR_RECORD_H
#define EXECUTOR_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EXECUTOR_MAGIC = 0x58544742, // "BGTX"
    EXECUTOR_VERSION = 1,
    EXECUTOR_RECORD_BYTES = 192,
    /// Words that the daemon keeps with a command; and bytes of a text in their place.
    EXECUTOR_NOTES = 8,
    EXECUTOR_TEXT_BYTES = 64,
    /// Descriptors beside one record.
    EXECUTOR_DESCRIPTORS_MAX = 3,
    /// The highest signal number (signal(7)).
    EXECUTOR_SIGNAL_MAX = 64,
};

enum {
    /// Where a supervisor has the file `lock` of the state folder, whose lock (flock(2)) it holds for as long as it is there.
    EXECUTOR_LOCK_OF_SUPERVISORS = 4,
};

enum executor_kind {
    // Orders. Each is answered by DONE with its serial, but for LIST.
    /// The first record of a connection: whose commands it is about (`instance`), and for how long they go on without a
    /// daemon (`grace`; 0: as the executor was started). Answered by WELCOME, or by DONE with EBUSY where there are commands of
    /// another owner.
    EXECUTOR_HELLO = 1,
    /// Start a command in a group of its own. STARTED or NOT_STARTED follows.
    EXECUTOR_START = 2,
    /// Set when the handler and the limit of a command are due.
    EXECUTOR_SET_DEADLINES = 3,
    /// Send a signal to all processes of a command.
    EXECUTOR_SIGNAL = 4,
    /// End all processes of a command with SIGKILL.
    EXECUTOR_KILL = 5,
    /// Hold all processes of a command still, or let them go on. The `number` of the answer says whether FROZEN
    /// follows (`executor_freeze_answer`).
    EXECUTOR_FREEZE = 6,
    EXECUTOR_THAW = 7,
    /// Tell of each command that is not forgotten: ENTRY, then each report of it that is true, told before or not; LISTED after
    /// the last one.
    EXECUTOR_LIST = 8,
    /// A command that is gone, or was never started, is known to the daemon's disk: let go of it.
    EXECUTOR_FORGET = 9,
    /// Give each command its handler now, and its grace; what comes then is up to the deadlines.
    EXECUTOR_DRAIN = 10,
    /// End as soon as no command is left that runs, and with AGAIN run the program anew.
    EXECUTOR_EXIT = 11,

    // Reports.
    EXECUTOR_WELCOME = 33,
    EXECUTOR_DONE = 34,
    EXECUTOR_STARTED = 35,
    EXECUTOR_NOT_STARTED = 36,
    EXECUTOR_EXITED = 37,
    EXECUTOR_HANDLER_FIRED = 38,
    EXECUTOR_LIMIT_FIRED = 39,
    EXECUTOR_FROZEN = 40,
    EXECUTOR_GONE = 41,
    EXECUTOR_ENTRY = 42,
    EXECUTOR_LISTED = 43,
    /// A process has left the group of its command, or one of no command was found and is killed (`command` is 0 then).
    EXECUTOR_LEFT = 44,
};

enum executor_flag {
    // Of START: which descriptors follow that of the work.
    /// A readable one, which becomes standard input.
    EXECUTOR_WITH_INPUT = 1 << 0,
    /// One to be kept with the command and given back with its ENTRY.
    EXECUTOR_WITH_KEPT = 1 << 1,
    // Of SET_DEADLINES.
    /// The handler is to run at `handler_at` though it has run before.
    EXECUTOR_HANDLER_AGAIN = 1 << 2,
    // Of FROZEN and ENTRY.
    EXECUTOR_IS_FROZEN = 1 << 3,
    // Of EXITED and ENTRY: `code` is a signal and no exit status.
    EXECUTOR_BY_SIGNAL = 1 << 4,
    // Of ENTRY: how far the command has come.
    EXECUTOR_HAS_STARTED = 1 << 5,
    EXECUTOR_HAS_FAILED = 1 << 6,
    EXECUTOR_HAS_EXITED = 1 << 7,
    EXECUTOR_LIMIT_HAS_FIRED = 1 << 8,
    EXECUTOR_IS_GONE = 1 << 9,
    // Of EXITED and NOT_STARTED: it is about the command that is run as the handler.
    EXECUTOR_OF_HANDLER = 1 << 10,
    // Of ENTRY: the command that is run as the handler runs, or is being started.
    EXECUTOR_HANDLER_RUNS = 1 << 11,
    // Of HANDLER_FIRED: not for its time, but because all commands are being ended.
    EXECUTOR_BY_DRAIN = 1 << 12,
    // Of EXIT, where the executor listens: at the end it runs its program anew, which may be a newer version.
    EXECUTOR_AGAIN = 1 << 13,
    // Of HANDLER_FIRED, beside BY_DRAIN: no daemon was there for too long.
    EXECUTOR_BY_ABSENCE = 1 << 14,
};

/// Whether a command is as a FREEZE or THAW asks for when that has been obeyed.
enum executor_freeze_answer {
    /// An older executor does not tell.
    EXECUTOR_FREEZE_UNKNOWN = 0,
    EXECUTOR_FREEZE_IS_SO = 1,
    /// FROZEN follows when it is.
    EXECUTOR_FREEZE_FOLLOWS = 2,
};

/// One record. All that a kind does not use is zero.
struct executor_record {
    uint32_t magic;
    uint16_t version;
    uint16_t kind;
    /// Of an order: the daemon's choice. Of DONE: that of the order. Else 0.
    uint64_t serial;
    /// Names a command for as long as it is not forgotten: the daemon's choice, not 0.
    uint64_t command;
    /// The daemon's count of the starts of one task, from 1.
    uint32_t attempt;
    uint32_t flags;
    /// START: a signal, or 0 for none. SIGNAL: a signal. SET_DEADLINES, HANDLER_FIRED, ENTRY: how often the handler has fired. DONE of SIGNAL: how
    /// many processes got it; of FREEZE, THAW: an executor_freeze_answer. WELCOME, LISTED: the commands that are not forgotten. NOT_STARTED: the stage (clx_stage).
    /// LEFT: the real uid of the process.
    uint32_t number;
    /// WELCOME: the executor's own. LEFT: that of the process.
    int32_t pid;
    /// DONE, NOT_STARTED: an errno, 0 for none. EXITED, ENTRY: an exit status, or a signal. FROZEN without IS_FROZEN: why a freeze
    /// was given up, or 0.
    int32_t code;
    uint32_t zero;
    // Nanoseconds on CLOCK_MONOTONIC; 0: never.
    uint64_t handler_at;
    uint64_t limit_at;
    /// Reports: when what they tell has happened.
    uint64_t moment;
    /// START: nanoseconds between a handler that fires early and the limit after it. HELLO, WELCOME: how long commands go on
    /// without a daemon, in nanoseconds.
    uint64_t grace;
    /// GONE, and ENTRY then: what the command has used. STARTED, and ENTRY before: what its group had used before it.
    uint64_t cpu_us;
    /// GONE, and ENTRY then.
    uint64_t memory_peak_bytes;
    /// WELCOME: differs between any two executors, and any two owners of one. HELLO: the owner, not 0.
    uint64_t instance[2];
    /// STARTED, ENTRY: the number of its group, whose folder is `command-NUMBER` in that beside WELCOME; 0 where there are no
    /// groups.
    uint64_t place;
    /// STARTED, ENTRY: the process number of its supervisor, where there are no groups; else 0.
    uint32_t supervisor;
    uint32_t reserved;
    union {
        /// START, SET_DEADLINES: what the daemon wants kept with the command; ENTRY: what it gave last.
        uint64_t notes[EXECUTOR_NOTES];
        /// WELCOME: the version of the program. LEFT: the end of the name of the group that the process is in. Ends with NUL.
        char text[EXECUTOR_TEXT_BYTES];
    };
};

_Static_assert(sizeof(struct executor_record) == EXECUTOR_RECORD_BYTES, "the size is part of the protocol");

/// Looks whether bytes are an order as this version has them, and whether so many descriptors belong to it.
///
/// Trusts nothing: it is what stands between the daemon and a process with all rights. Returns 0; EBADMSG for what is no
/// record; EPROTONOSUPPORT for another version; ENOSYS for a kind that is no order; EINVAL where a field has what its kind
/// does not allow; EBADF where the descriptors are too few or too many.
int executor_check_order(const void *bytes, size_t length, size_t descriptors, struct executor_record *order);

#endif
