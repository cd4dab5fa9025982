#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closers.h"
#include "deadlines.h"
#include "home.h"
#include "notify.h"
#include "process.h"
#include "reports.h"
#include "table.h"

static const struct home *home;
static uint64_t living;

void home_choose(const struct home *chosen) {
    home = chosen;
}

bool command_reap(pid_t process) {
    struct child *child = table_child(process);
    if (child == NULL) return false;
    child->running.ready(&child->running, 0);
    return true;
}

// MARK: - Start

void close_both(int ends[2]) {
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) close(ends[i]);
        ends[i] = -1;
    }
}

/// Of those that may be open, a quarter or 320 stay free.
long descriptors_max(void) {
    enum { SPARE = 320 };
    static long all;
    if (all == 0) all = sysconf(_SC_OPEN_MAX);
    if (all < 0) return LONG_MAX;
    return all - (all / 4 < SPARE ? all / 4 : SPARE);
}

/// Makes the two ends of a stream of output: what is read, and what is written to.
///
/// Who has a pipe can hold the kernel's lock of it for as long as they like (splice(2) from what never comes), and whoever
/// reads, asks or closes it waits for that, SIGKILL or not. So what another user's processes write to is a socket, whose
/// reader shares nothing with them. As in a service of systemd, it cannot be opened by a path then.
static int make_stream(const struct command *command, int ends[2]) {
    if (!command->is_of_other_user) return pipe2(ends, O_CLOEXEC) < 0 ? errno : 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return errno;
    clx_refuse_descriptors(ends[0]);
    // Nothing goes the other way.
    shutdown(ends[0], SHUT_WR);
    return 0;
}

static int open_output(struct command *command, const struct executor_work_header *header) {
    for (int i = 0; i < 2; i++) {
        int ends[2];
        const int error = make_stream(command, ends);
        if (error != 0) return error;
        command->output[i] = ends[0];
        command->writing[i] = ends[1];
        // The kernel gives the lowest that is free. The others are for the daemon, for signals and for the limits.
        if (ends[0] >= descriptors_max() || ends[1] >= descriptors_max()) return EMFILE;
        if (command->changes_user && !command->is_of_other_user
            // To open /dev/stderr or /proc/self/fd/1, as scripts do, needs the right to open the pipe itself.
            && fchown(ends[1], header->user, header->group) < 0) return errno;
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) return errno;
    }
    return 0;
}

static void handler_is_over(struct command *command) {
    command->handler_over = command->handler;
    reports_add(command, REPORT_HANDLER_EXITED);
}

void command_child_started(struct child *child) {
    struct command *command = child->command;
    if (child->stage != CLX_STAGE_NONE) return;
    child->has_started = true;
    child->started_at = loop_now();
    if (child != &command->main) return;
    command->phase = PHASE_RUNNING;
    const int freeze_error = command->wants_frozen ? home->freeze(command, true) : 0;
    if (freeze_error != 0) command_is_frozen(command, false, freeze_error);
    reports_add(command, REPORT_STARTED);
}

void command_child_ended(struct child *child) {
    struct command *command = child->command;
    child->is_there = false;
    child->exited_at = loop_now();
    child->has_exited = child->has_started;
    if (child != &command->main) return handler_is_over(command);
    close_both(command->writing);
    if (child->has_exited) reports_add(command, REPORT_EXITED);
}

static void prepare_child(struct command *command, struct child *child) {
    *child = (struct child){
        .command = command,
        .starting = {.descriptor = -1},
        .running = {.descriptor = -1},
        .fork = {.pidfd = -1, .report = -1},
        .session = UINT32_MAX,
    };
}

static struct command *make(const struct executor_record *order) {
    struct command *command = calloc(1, sizeof *command);
    if (command == NULL) return NULL;
    command->key = order->command;
    command->attempt = order->attempt;
    command->handler_signal = order->number;
    command->handler_at = order->handler_at;
    command->limit_at = order->limit_at;
    command->grace = order->grace;
    memcpy(command->notes, order->notes, sizeof command->notes);
    command->supervisor.reports = (struct source){.descriptor = -1};
    command->output[0] = command->output[1] = command->writing[0] = command->writing[1] = command->kept = -1;
    command->place = -1;
    prepare_child(command, &command->supervisor.process);
    prepare_child(command, &command->main);
    prepare_child(command, &command->handler);
    return command;
}

/// Lets go of what processes of its user can send to.
static void let_go_of_users(struct command *command, bool is_shared) {
    closers_let_go(command->kept, command->user, is_shared);
    command->kept = -1;
    for (int i = 0; command->is_of_other_user && i < 2; i++) {
        closers_let_go(command->output[i], command->user, is_shared);
        command->output[i] = -1;
    }
}

static void drop(struct command *command) {
    work_drop(&command->work);
    close_both(command->output);
    close_both(command->writing);
    home->close(command);
    group_forget(command->group_number);
    free(command);
}

static int start(struct command *command, int work, int input) {
    command->main.stage = CLX_STAGE_CLONE;
    command->began_at = process_ticks();
    int error = work_take(&command->work, work);
    const struct executor_work_header *header = &command->work.read.header;
    command->changes_user = (header->flags & EXECUTOR_CHANGES_USER) != 0;
    command->user = command->changes_user ? header->user : geteuid();
    command->is_of_other_user = command->user != geteuid();
    command->has_handler = header->handler_argument_count > 0;
    if (error == 0) error = open_output(command, header);
    return error == 0 ? home->begin(command, input) : error;
}

int command_start(const struct executor_record *order, const int *descriptors, uint64_t now) {
    const bool has_input = (order->flags & EXECUTOR_WITH_INPUT) != 0;
    const bool has_kept = (order->flags & EXECUTOR_WITH_KEPT) != 0;
    const int input = has_input ? descriptors[1] : -1;
    const int kept = has_kept ? descriptors[1 + has_input] : -1;
    int error = command_find(order->command) != NULL ? EEXIST : table_reserve();
    if (error == 0 && descriptors[0] >= descriptors_max()) error = EMFILE;
    struct command *command = error == 0 ? make(order) : NULL;
    if (error == 0) error = command == NULL ? ENOMEM : deadlines_reserve();
    if (error != 0) {
        free(command);
        // The daemon that has sent it has another.
        closers_let_go(kept, UINT32_MAX, true);
    } else {
        command->kept = kept;
        table_enter(command);
        living++;
        notify_begins();
        command->main.error = start(command, descriptors[0], input);
        if (command->main.error != 0 && !command->main.is_there) {
            command->phase = PHASE_FAILED;
            command->gone_at = now;
            living--;
            close_both(command->writing);
            home->close(command);
            work_drop(&command->work);
            reports_add(command, REPORT_NOT_STARTED);
        }
        deadlines_update(command);
    }
    close(descriptors[0]);
    if (input >= 0) close(input);
    return error;
}

int command_restore(const struct executor_record *entry) {
    if (command_find(entry->command) != NULL) return EBADMSG;
    int error = table_reserve();
    struct command *command = error == 0 ? make(entry) : NULL;
    if (error == 0) error = command == NULL ? ENOMEM : deadlines_reserve();
    if (error != 0) {
        free(command);
        return error;
    }
    command->handler_at = command->limit_at = 0;
    command->is_restored = true;
    report_restore(command, entry);
    table_enter(command);
    return 0;
}

// MARK: - Its course

/// The most that this process has held since its execve(2), unlike its ru_maxrss, which has what its parent held then.
static uint64_t own_peak(void) {
    uint64_t kibibytes = 0;
    const int file = clx_proc_open("/proc/self/status", O_RDONLY);
    if (file < 0) return UINT64_MAX / 2;
    if (clx_number_after(file, "VmHWM:", &kibibytes) != 1) kibibytes = UINT64_MAX / 4096;
    close(file);
    return kibibytes * 1024;
}

uint64_t peak_of_child(uint64_t counted) {
    // Read where it may have grown: most children show what is known already.
    static uint64_t inherited;
    if (counted > inherited + inherited / 8) {
        const uint64_t own = own_peak();
        if (own > inherited) inherited = own;
    }
    return counted > inherited + inherited / 8 ? counted : 0;
}

static uint64_t peak_of_children(const struct command *command) {
    const uint64_t main = command->main.exit.use.memory_peak_bytes;
    const uint64_t handler = command->handler.exit.use.memory_peak_bytes;
    return peak_of_child(main > handler ? main : handler);
}

void command_end(struct command *command, struct clx_use use) {
    living--;
    command->gone_at = loop_now();
    command->use = use;
    if (use.memory_peak_bytes == 0) command->use.memory_peak_bytes = peak_of_children(command);
    const bool has_run = command->main.has_started;
    command->phase = has_run ? PHASE_GONE : PHASE_FAILED;
    deadlines_update(command);
    home->close(command);
    work_drop(&command->work);
    reports_add(command, has_run ? REPORT_GONE : REPORT_NOT_STARTED);
}

void command_is_frozen(struct command *command, bool is_frozen, int error) {
    if (is_frozen == command->is_frozen && error == 0) return;
    if (error != 0) command->wants_frozen = false;
    command->is_frozen = is_frozen;
    command->freeze_error = error;
    command->frozen_at = loop_now();
    reports_add(command, REPORT_FROZEN);
}

bool command_is_over(const struct command *command) {
    return command->phase == PHASE_GONE || command->phase == PHASE_FAILED;
}

uint64_t command_living_count(void) {
    return living;
}

uint64_t command_killed_at(const struct command *command) {
    if (command->cut_off_at != 0) return command->cut_off_at;
    // A kill that has failed is tried again.
    return command->limit_has_fired && command->limit_at == 0 ? command->limit_fired_at : 0;
}

int command_set_deadlines(struct command *command, const struct executor_record *order) {
    if (command_is_over(command)) return ESRCH;
    // The daemon does not know yet that the handler has run, and would choose otherwise.
    if (order->number != command->fired) return EAGAIN;
    const bool runs_again = (order->flags & EXECUTOR_HANDLER_AGAIN) != 0;
    const bool is_past = command->limit_has_fired || (command->fired > 0 && !runs_again);
    // What is being ended is given no more time.
    if (command->drained_for == DRAIN_NONE) command->handler_at = is_past ? 0 : order->handler_at;
    const bool is_earlier = order->limit_at != 0 && order->limit_at < command->limit_at;
    if (command->drained_for == DRAIN_NONE || is_earlier) command->limit_at = order->limit_at;
    memcpy(command->notes, order->notes, sizeof command->notes);
    deadlines_update(command);
    return 0;
}

/// These stop a process or let it go on, and are no request to end.
static bool is_of_job_control(int number) {
    return number == SIGKILL || number == SIGCONT || number == SIGSTOP || number == SIGTSTP || number == SIGTTIN
           || number == SIGTTOU;
}

int command_signal(struct command *command, int number, uint32_t *signalled) {
    *signalled = 0;
    if (command_is_over(command)) return ESRCH;
    if (number == SIGKILL) return command_kill(command);
    // A child that has not closed yet what is others' must not be stopped.
    if (command->phase == PHASE_STARTING && is_of_job_control(number)) return EAGAIN;
    command->wants_frozen = false;
    return home->signal(command, number, signalled);
}

int command_kill(struct command *command) {
    return command_is_over(command) ? ESRCH : home->kill(command);
}

int command_freeze(struct command *command, bool is_frozen) {
    if (command_is_over(command)) return ESRCH;
    // It was asked to end, and has its grace for that.
    if (is_frozen && command->drained_for != DRAIN_NONE) return ECANCELED;
    // As above: one that is being started is frozen when its program runs.
    command->wants_frozen = is_frozen;
    const int error = command->phase == PHASE_STARTING ? 0 : home->freeze(command, is_frozen);
    if (error != 0) command->wants_frozen = false;
    return error;
}

// MARK: - Its times

static void send_handler_signal(struct command *command) {
    uint32_t signalled;
    const int number = (int)command->handler_signal;
    if (number == 0) return;
    command_signal(command, number, &signalled);
    // Who was stopped would handle nothing (systemd.kill(5)).
    if (!is_of_job_control(number)) command_signal(command, SIGCONT, &signalled);
}

static void fire_handler(struct command *command, uint64_t now) {
    command->handler_at = 0;
    command->fired++;
    command->fired_at = now;
    command->fired_for = command->drained_for;
    reports_add(command, REPORT_HANDLER);
    send_handler_signal(command);
    if (!command->has_handler || command->handler.is_there) return;
    prepare_child(command, &command->handler);
    command->handler.stage = CLX_STAGE_CLONE;
    command->handler.exited_at = now;
    // The command itself may be gone; the daemon waits for its handler all the same.
    command->handler.error = command->main.is_there ? home->begin_handler(command) : ESRCH;
    if (command->handler.error != 0 && !command->handler.is_there) handler_is_over(command);
}

static void fire_limit(struct command *command, uint64_t now) {
    enum { RETRY_NS = 100000000 };
    command->limit_at = command->handler_at = 0;
    if (!command->limit_has_fired) {
        command->limit_has_fired = true;
        command->limit_fired_at = now;
        reports_add(command, REPORT_LIMIT);
    }
    // There may have been no descriptor to be had.
    if (command_kill(command) != 0) command->limit_at = now + RETRY_NS;
}

/// It may be over: the first count of who is left of it shows whether anything is due. Returns whether it is waited for.
static bool waits_for_end(struct command *command, uint64_t now) {
    enum { WAIT_NS = 10000000, WAITS_MAX_NS = 100000000 };
    if (command->waits == WAITS_NOT || command->was_killed || now - command->main.exited_at > WAITS_MAX_NS) return false;
    const bool is_handler_due = command->handler_at != 0 && command->handler_at <= now;
    const bool is_limit_due = command->limit_at != 0 && command->limit_at <= now;
    if (is_handler_due) command->handler_at = now + WAIT_NS;
    if (is_limit_due) command->limit_at = now + WAIT_NS;
    return is_handler_due || is_limit_due;
}

int command_fire_due(uint64_t now) {
    for (struct command *command; (command = deadlines_first()) != NULL;) {
        const uint64_t due = deadline_of(command);
        // Rounded up, so that it is due by then.
        if (due > now) return due - now > 3600000000000 ? 3600000 : (int)((due - now + 999999) / 1000000);
        if (waits_for_end(command, now)) {
            deadlines_update(command);
            continue;
        }
        // A handler is never due after the limit. Where both are due, it fires first all the same: once for each budget.
        if (command->handler_at != 0 && command->handler_at <= now) {
            fire_handler(command, now);
        } else if (command->limit_at != 0 && command->limit_at <= now) {
            fire_limit(command, now);
        } else {
            home->give_up(command);
        }
        deadlines_update(command);
    }
    return -1;
}

static enum drain drain_reason;

static void drain(struct command *command) {
    const uint64_t now = loop_now();
    if (command_is_over(command) || command->limit_has_fired || command->drained_for != DRAIN_NONE) return;
    command->drained_for = drain_reason;
    if (command->fired == 0) command->handler_at = now;
    const uint64_t limit_at = now + command->grace;
    if (command->limit_at == 0 || command->limit_at > limit_at) command->limit_at = limit_at;
    deadlines_update(command);
}

static bool are_killed;

static void cut_off(struct command *command) {
    if (command_is_over(command)) return;
    if (command->cut_off_at == 0) command->cut_off_at = loop_now();
    if (home->kill(command) != 0) are_killed = false;
}

bool command_cut_off_all(void) {
    are_killed = true;
    command_each(cut_off);
    return are_killed;
}

void command_drain_all(enum drain reason) {
    drain_reason = reason;
    command_each(drain);
}

// MARK: - The end

static bool are_shared;

static void let_go_of_one(struct command *command) {
    let_go_of_users(command, are_shared);
}

void command_let_go_of_users(bool is_shared) {
    are_shared = is_shared;
    command_each(let_go_of_one);
}

void command_forget(struct command *command, bool is_shared) {
    let_go_of_users(command, is_shared);
    table_leave(command);
    deadlines_remove(command);
    reports_drop(command);
    drop(command);
}
