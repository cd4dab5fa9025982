// What the daemon and bgtask-supervisor say to each other. Both are built from this file.
#ifndef CLINUX_SUPERVISOR_H
#define CLINUX_SUPERVISOR_H

#include <stdint.h>

enum clx_supervisor_descriptor {
    /// Its end of a SOCK_SEQPACKET pair: orders in, reports out. End of file: the daemon is gone.
    CLX_SUPERVISOR_CONTROL = 3,
    /// A memory file with a `clx_supervisor_request`.
    CLX_SUPERVISOR_REQUEST = 4,
    /// The second lock on the daemon's state folder, where it has one: it lasts until no supervisor is
    /// left, so that the next daemon finds no process of this one.
    CLX_SUPERVISOR_LOCK = 5,
};

enum { CLX_SUPERVISOR_MAGIC = 0x62677333 };

/// Followed by `group_count` gids, then by strings that end with NUL: the search path,
/// the directory (empty: stay), where to go if it cannot be entered (empty: fail then), the
/// arguments, the environment.
struct clx_supervisor_request {
    uint32_t magic;
    uint32_t argument_count;
    uint32_t environment_count;
    uint32_t group_count;
    uint32_t changes_user;
    uint32_t user;
    uint32_t group;
    uint32_t file_mode_mask;
    uint32_t no_new_privileges;
    uint32_t reserved;
    uint64_t open_files_soft;
};

enum clx_supervisor_report_kind {
    /// The command runs: `pid`.
    CLX_REPORT_STARTED = 1,
    /// The command could not be started: `stage`, `code` (errno).
    CLX_REPORT_FAILED = 2,
    /// The command exited with the status `code`.
    CLX_REPORT_EXITED = 3,
    /// The command was ended by the signal `code`.
    CLX_REPORT_SIGNALLED = 4,
    /// No descendant is left; the supervisor exits next. What they used.
    CLX_REPORT_GONE = 5,
    /// Every descendant is stopped.
    CLX_REPORT_FROZEN = 6,
    /// Not every descendant could be stopped, and all go on again: `pid` is one that was not, `code` why
    /// (an errno; ETIMEDOUT where it was told to and did not).
    CLX_REPORT_FREEZE_FAILED = 7,
    /// Every descendant goes on. One for each CLX_ORDER_THAW.
    CLX_REPORT_THAWED = 8,
};

struct clx_supervisor_report {
    uint32_t kind;
    int32_t pid;
    int32_t stage;
    int32_t code;
    uint64_t cpu_us;
    uint64_t memory_peak_bytes;
};

enum clx_supervisor_order_kind {
    /// Send the signal `number` to every descendant.
    CLX_ORDER_SIGNAL = 1,
    /// Kill every descendant.
    CLX_ORDER_KILL = 2,
    /// Stop every descendant; answered by FROZEN or FREEZE_FAILED, and by nothing where a THAW or a KILL
    /// comes before that.
    CLX_ORDER_FREEZE = 3,
    /// Let every descendant go on.
    CLX_ORDER_THAW = 4,
};

struct clx_supervisor_order {
    uint32_t kind;
    int32_t number;
};

#endif
