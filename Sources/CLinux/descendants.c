#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "clinux_processes.h"

/// Returns how many were seen running, or minus an errno.
static long stop_descendants(
    struct clx_processes *processes, const pid_t *excluded, size_t excluded_count) {
    int error = clx_processes_read(processes);
    if (error != 0) return -error;
    clx_processes_keep_descendants(processes, getpid(), excluded, excluded_count);
    long running = 0;
    for (size_t i = 0; i < processes->count; i++) {
        const struct clx_process *process = &processes->entries[i];
        if (clx_process_is_dead(process) || process->state == 'T') continue;
        running++;
        clx_process_signal(process, SIGSTOP);
    }
    return running;
}

long clx_descendants_kill(const pid_t *excluded, size_t excluded_count, int sweeps_max) {
    struct clx_processes processes = {0};
    long running = 0;
    for (int sweep = 0; sweep < sweeps_max; sweep++) {
        running = stop_descendants(&processes, excluded, excluded_count);
        if (running <= 0) break;
    }
    long alive = running < 0 ? running : 0;
    for (size_t i = 0; running >= 0 && i < processes.count; i++) {
        if (clx_process_is_dead(&processes.entries[i])) continue;
        alive++;
        clx_process_signal(&processes.entries[i], SIGKILL);
    }
    clx_processes_free(&processes);
    return alive;
}

/// Returns 0 where the process is stopped already, or why it is not.
static int stop(const struct clx_processes *all, const struct clx_process *process, uid_t user) {
    const struct clx_process *parent = clx_processes_find(all, process->parent);
    // vfork(2) waits so until the child has executed its program, and stops afterwards.
    const bool is_awaited = parent != NULL && parent->state == 'D';
    if (clx_process_is_stopped(process) && !is_awaited) return 0;
    if (is_awaited && !clx_process_is_stopped(process)) return ETIMEDOUT;
    // One that its user may not stop is not let go on either.
    int error = clx_process_signal_as(user, process, is_awaited ? 0 : SIGSTOP);
    if (error == 0 && is_awaited) error = clx_process_signal(process, SIGCONT);
    return error == 0 ? ETIMEDOUT : error;
}

long clx_descendants_stop(struct clx_processes *seen, uid_t user, struct clx_unstopped *unstopped) {
    struct clx_processes now = {0};
    int failure = clx_processes_read(&now);
    if (failure != 0) {
        clx_processes_free(&now);
        return -failure;
    }
    clx_processes_keep_descendants(&now, getpid(), NULL, 0);
    long running = 0;
    for (size_t i = 0; i < now.count; i++) {
        const struct clx_process *process = &now.entries[i];
        if (clx_process_is_dead(process)) continue;
        int error = stop(&now, process, user);
        if (error == ESRCH) error = ETIMEDOUT;
        const bool was_there = clx_processes_contain(seen, process);
        if (error == 0 && was_there && clx_process_is_stopped(clx_processes_find(seen, process->pid))) continue;
        running++;
        unstopped->pid = process->pid;
        unstopped->error = error == 0 ? ETIMEDOUT : error;
        if (error == 0 || !was_there) unstopped->has_changed = true;
    }
    clx_processes_free(seen);
    *seen = now;
    return running;
}

/// As proc_pid_stat(5) has the start of a process.
static uint64_t ticks_since_boot(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    const long per_second = sysconf(_SC_CLK_TCK);
    return (uint64_t)now.tv_sec * (uint64_t)per_second
        + (uint64_t)now.tv_nsec / (uint64_t)(1000000000 / per_second);
}

/// Whether a process descends from one in `before` that may have started it after it had the signal: not in an earlier
/// tick of the clock.
static bool may_be_answer(
    const struct clx_processes *before, const struct clx_processes *now,
    const struct clx_process *process) {
    // Numbers that are used again meanwhile must not make a circle.
    for (size_t i = 0; i < now->count && process != NULL; i++) {
        const struct clx_process *parent = clx_processes_find(before, process->parent);
        if (parent != NULL) return process->start_time >= parent->signalled_at;
        process = clx_processes_find(now, process->parent);
    }
    return false;
}

/// One sweep: signals who was not in `before` and, for a signal that may be handled, was started by nobody in it who had
/// it: that may be what handles the signal. Returns how many got it, or minus an errno.
static long signal_newcomers(
    struct clx_processes *now, const struct clx_processes *before, int number, uid_t user) {
    const bool may_be_handled = number != SIGKILL && number != SIGSTOP && number != SIGCONT;
    int error = clx_processes_read(now);
    if (error != 0) return -error;
    clx_processes_keep_descendants(now, getpid(), NULL, 0);
    long signalled = 0;
    for (size_t i = 0; i < now->count; i++) {
        struct clx_process *process = &now->entries[i];
        process->signalled_at = UINT64_MAX;
        if (clx_process_is_dead(process)) continue;
        if (clx_processes_contain(before, process)) {
            process->signalled_at = clx_processes_find(before, process->pid)->signalled_at;
            continue;
        }
        if (may_be_handled && may_be_answer(before, now, process)) {
            process->signalled_at = 0;
            continue;
        }
        const uint64_t at = ticks_since_boot();
        if (clx_process_signal_as(user, process, number) != 0) continue;
        process->signalled_at = at;
        signalled++;
    }
    return signalled;
}

long clx_descendants_signal(int number, uid_t user) {
    enum { SWEEPS_MAX = 8 };
    struct clx_processes tables[2] = {{0}, {0}};
    long total = 0;
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        long signalled = signal_newcomers(&tables[sweep % 2], &tables[(sweep + 1) % 2], number, user);
        if (signalled < 0 && total == 0) total = signalled;
        if (signalled <= 0) break;
        total += signalled;
    }
    clx_processes_free(&tables[0]);
    clx_processes_free(&tables[1]);
    return total;
}
