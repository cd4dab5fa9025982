// The processes of the machine and who descends from whom, through /proc.
#ifndef CLINUX_PROCESSES_H
#define CLINUX_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct clx_process {
    pid_t pid;
    pid_t parent;
    /// Clock ticks since boot: with the pid it names one process for ever.
    uint64_t start_time;
    /// As in proc_pid_stat(5): R, S, D, Z, T, …
    char state;
    bool is_descendant;
    /// When `clx_descendants_signal` signalled it, in the same ticks; 0 where it is left out with what it starts, and
    /// UINT64_MAX where the signal did not reach it.
    uint64_t signalled_at;
};

/// Sorted by pid. Zero-initialised is empty; mapped memory, freed by `clx_processes_free`.
struct clx_processes {
    struct clx_process *entries;
    size_t count;
    size_t capacity;
};

/// Reads one. Returns false where it is gone.
bool clx_process_read(pid_t pid, struct clx_process *process);

/// Reads all processes that /proc shows. Returns 0 or an errno.
int clx_processes_read(struct clx_processes *processes);

/// Adds one with a higher number than all others. Returns 0 or an errno.
int clx_processes_add(struct clx_processes *processes, const struct clx_process *process);

/// Keeps the descendants of `root` alone (without it). The processes in `excluded` and what
/// descends from them is left out.
void clx_processes_keep_descendants(
    struct clx_processes *processes, pid_t root, const pid_t *excluded, size_t excluded_count);

/// The process with that number, or NULL.
const struct clx_process *clx_processes_find(const struct clx_processes *processes, pid_t pid);

/// Whether this very process (pid and start time) is in the table.
bool clx_processes_contain(const struct clx_processes *processes, const struct clx_process *process);

void clx_processes_free(struct clx_processes *processes);

/// Signals this very process, and no other that has its pid by now. Returns 0 or an errno
/// (ESRCH where it is gone).
int clx_process_signal(const struct clx_process *process, int number);

/// The user of a process: its effective uid, or where that is root's the real one. UINT32_MAX where it is gone. Nothing of a user's is
/// held for that (clinux_reader.h).
uid_t clx_process_user(pid_t pid);

/// Signals a process through its pidfd where it is that user's, the user is root or the signal is for all; 0 as kill(2). Returns 0 or
/// an errno: EPERM where none of that is so, ESRCH where it is gone.
int clx_signal_for(uid_t user, pid_t pid, int pidfd, int number);

/// As `clx_process_signal`, and likewise.
int clx_process_signal_as(uid_t user, const struct clx_process *process, int number);

/// Stops (SIGSTOP) the descendants of the caller, sweep by sweep until no running one shows or
/// `sweeps_max` is reached, then sends SIGKILL to all: who is stopped cannot fork meanwhile.
/// Children are not reaped. Returns how many descendants the last sweep found, zombies left out,
/// or minus an errno.
long clx_descendants_kill(const pid_t *excluded, size_t excluded_count, int sweeps_max);

/// One that could not be stopped: why is an errno, ETIMEDOUT where it was told to and runs still.
struct clx_unstopped {
    pid_t pid;
    int error;
    /// Whether somebody has appeared or stopped since the sweep before.
    bool has_changed;
};

/// Tells every descendant of the caller to stop (SIGSTOP), in one sweep; again until it returns 0. One that the user may not
/// signal is left running: EPERM.
///
/// The child of a process in an uninterruptible wait is left running: that may be vfork(2)'s wait for this
/// very child. `seen` is what the sweep before has found (empty before the first) and becomes what this
/// one finds. Returns how many are not stopped or were not a sweep ago, with one of them in `unstopped`, or
/// minus an errno. At 0 all are stopped: who is seen stopped twice has started nobody in between, whom this
/// sweep could have missed. `has_changed` is left alone where the sweep has found what the one before had: the
/// next one at once would too.
long clx_descendants_stop(struct clx_processes *seen, uid_t user, struct clx_unstopped *unstopped);

/// Whether a signal goes to all of a command, whose processes ever they are by now: those that end it do.
bool clx_signal_is_for_all(int number);

/// Whether a process is stopped, by a signal or by its tracer.
bool clx_process_is_stopped(const struct clx_process *process);

/// Whether nothing is left of a process but its entry.
bool clx_process_is_dead(const struct clx_process *process);

/// Sends a signal to every descendant of the caller, those included that appear meanwhile; but for SIGKILL, SIGSTOP and
/// SIGCONT not to what is started by one that had it, as far as ticks of the clock tell. Those that the user may not signal
/// get only what is for all. Returns how many got it, or minus an errno.
long clx_descendants_signal(int number, uid_t user);

#endif
