#include "supervised.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closers.h"
#include "deadlines.h"
#include "home.h"
#include "releases.h"
#include "reports.h"
#include "supervisor.h"
#include "table.h"

enum {
    SWEEPS_PER_ROUND = 4,
    ROUND_PAUSE_MIN_MS = 4,
    ROUND_PAUSE_MAX_MS = 512,
};

/// How long a supervisor may take to answer that it kills, again and again until all are gone.
#define ANSWER_NS UINT64_C(5000000000)

static int lock = -1;
/// Whether there are commands whose supervisor is gone, and when what is left of them is killed next.
static bool has_lost;
static uint64_t next_round_at;
static int pause_ms;

void supervised_begin(int descriptor) {
    lock = descriptor;
}

// MARK: - What supervisors tell

static void take_end(struct child *child, const struct clx_exit *end) {
    if (!child->is_there) return;
    child->exit = *end;
    command_child_ended(child);
}

/// How its processes are after an order that stops them or lets them go on.
static void take_stillness(struct command *command, const struct supervisor_report *report) {
    // A later order is not answered yet.
    if (report->number != command->supervisor.stillness_order) return;
    command_is_frozen(command, report->kind == TOLD_FROZEN, report->error);
    if (!command->supervisor.owes_stillness) return;
    // Whoever ordered it hears of it, also where nothing has changed.
    command->supervisor.owes_stillness = false;
    command->freeze_error = report->error;
    command->frozen_at = loop_now();
    reports_add(command, REPORT_FROZEN);
}

static void take_report(struct command *command, const struct supervisor_report *report) {
    struct child *child = report->is_of_handler ? &command->handler : &command->main;
    switch (report->kind) {
    case TOLD_STARTED:
        child->fork.pid = report->pid;
        child->stage = report->stage;
        child->error = report->error;
        command_child_started(child);
        return;
    case TOLD_ENDED: take_end(child, &report->end); return;
    case TOLD_KILLING: command->supervisor.has_answered = true; return;
    case TOLD_FROZEN:
    case TOLD_THAWED:
    case TOLD_FREEZE_FAILED: take_stillness(command, report); return;
    case TOLD_GONE:
        command->supervisor.has_told_end = true;
        command->use = report->use;
        return;
    }
}

static void read_reports(struct command *command) {
    struct supervisor_report report;
    struct source *source = &command->supervisor.reports;
    for (ssize_t length; source->descriptor >= 0;) {
        length = recv(source->descriptor, &report, sizeof report, MSG_DONTWAIT);
        if (length < 0 && errno == EAGAIN) return;
        // It has left an order unread: told once, and then comes what it had told.
        if (length < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
        if (length == sizeof report) {
            take_report(command, &report);
            continue;
        }
        // It ends, and is reaped next.
        const int socket = source->descriptor;
        loop_forget(source);
        close(socket);
    }
}

static void told(struct source *source, uint32_t events) {
    (void)events;
    read_reports(OWNER(source, struct command, supervisor.reports));
}

/// Its supervisor is gone before its processes.
static void lose(struct command *command, const struct clx_exit *end) {
    const struct clx_exit killed = {.was_signalled = true, .status = SIGKILL};
    struct child *children[] = {&command->main, &command->handler};
    for (int i = 0; i < 2; i++) {
        struct child *child = children[i];
        if (child->is_there && !child->has_started) {
            child->stage = CLX_STAGE_CLONE;
            child->error = EOWNERDEAD;
        }
        take_end(child, &killed);
    }
    command->use = end->use;
    deadlines_update(command);
    command->supervisor.is_lost = has_lost = true;
    next_round_at = loop_now();
    pause_ms = ROUND_PAUSE_MIN_MS;
}

/// A supervisor has ended.
static void ended(struct source *source, uint32_t events) {
    (void)events;
    struct child *supervisor = OWNER(source, struct child, running);
    struct command *command = supervisor->command;
    const int seen = clx_end_of(supervisor->fork.pid, &supervisor->exit);
    if (seen == 0) return;
    table_leave_child(supervisor);
    if (seen > 0) releases_add(supervisor->fork.pid);
    supervisor->is_there = false;
    read_reports(command);
    command->answer_by = 0;
    if (!command->supervisor.has_told_end) return lose(command, &supervisor->exit);
    // It was told to begin the handler, and has ended instead.
    if (command->handler.is_there) {
        command->handler.stage = CLX_STAGE_CLONE;
        command->handler.error = ESRCH;
        command_child_ended(&command->handler);
    }
    command->use.memory_peak_bytes = peak_of_child(command->use.memory_peak_bytes);
    command_end(command, command->use);
}

// MARK: - Those whose supervisor is gone

static pid_t *supervisors;
static size_t supervisor_count;

static void add_supervisor(struct command *command) {
    if (command->supervisor.process.is_there) supervisors[supervisor_count++] = command->supervisor.process.fork.pid;
}

static void end_if_lost(struct command *command) {
    if (command->supervisor.is_lost && !command_is_over(command)) command_end(command, command->use);
}

/// All that descends from here, from no supervisor and not from the maker of closers, is of those commands. Returns whether none is left.
static bool kill_round(void) {
    supervisors = malloc((size_t)(command_count() + 1) * sizeof *supervisors);
    if (supervisors == NULL) return false;
    supervisors[0] = closers_maker();
    supervisor_count = 1;
    command_each(add_supervisor);
    const long left = clx_descendants_kill(supervisors, supervisor_count, SWEEPS_PER_ROUND);
    free(supervisors);
    return left == 0;
}

int supervised_turn(void) {
    if (!has_lost) return -1;
    const uint64_t now = loop_now();
    if (now < next_round_at) return (int)((next_round_at - now + 999999) / 1000000);
    if (kill_round()) {
        has_lost = false;
        command_each(end_if_lost);
        return -1;
    }
    next_round_at = now + (uint64_t)pause_ms * 1000000;
    const int pause = pause_ms;
    if (pause_ms < ROUND_PAUSE_MAX_MS) pause_ms *= 2;
    return pause;
}

// MARK: - The home

static int fork_supervisor(struct command *command, int ends[2], int input) {
    struct child *process = &command->supervisor.process;
    if (ends[0] >= descriptors_max() || ends[1] >= descriptors_max()) return EMFILE;
    command->supervisor.reports.ready = told;
    const int error = loop_watch(&command->supervisor.reports, ends[0], EPOLLIN);
    if (error != 0) return error;
    process->fork.pid = fork();
    if (process->fork.pid < 0) {
        const int fault = errno;
        loop_forget(&command->supervisor.reports);
        return fault;
    }
    if (process->fork.pid == 0) {
        supervisor_run(&(struct supervisor_start){
            .work = &command->work, .control = ends[1], .input = input, .output = command->writing, .lock = lock});
    }
    process->is_there = true;
    process->running.ready = ended;
    table_enter_child(process);
    return 0;
}

static int begin(struct command *command, int input) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return errno;
    const int error = fork_supervisor(command, ends, input);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return error;
    }
    command->main.is_there = true;
    // The supervisor has both.
    work_drop(&command->work);
    close_both(command->writing);
    return 0;
}

/// Returns an errno, EAGAIN where the supervisor has not taken those of before.
static int send_order(struct command *command, struct supervisor_order order) {
    // It ends.
    if (command->supervisor.reports.descriptor < 0) return ESRCH;
    const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    if (send(command->supervisor.reports.descriptor, &order, sizeof order, flags) >= 0) return 0;
    return errno == EPIPE || errno == ECONNRESET ? ESRCH : errno;
}

/// The same for those that stop its processes or let them go on.
static int order_stillness(struct command *command, struct supervisor_order order) {
    order.number = command->supervisor.stillness_order + 1;
    const int error = send_order(command, order);
    if (error == 0) command->supervisor.stillness_order = order.number;
    return error;
}

static int begin_handler(struct command *command) {
    const int error = send_order(command, (struct supervisor_order){.kind = ORDER_HANDLER});
    command->handler.is_there = error == 0;
    return error;
}

/// Those that get it are not waited for.
static int signal_all(struct command *command, int number, uint32_t *signalled) {
    *signalled = 0;
    return order_stillness(command, (struct supervisor_order){.kind = ORDER_SIGNAL, .signal = number});
}

static int kill_all(struct command *command) {
    const pid_t supervisor = command->supervisor.process.fork.pid;
    if (!command->supervisor.process.is_there) return 0;
    // Somebody may have stopped it.
    kill(supervisor, SIGCONT);
    const int error = send_order(command, (struct supervisor_order){.kind = ORDER_KILL});
    if (error == ESRCH) return 0;
    // What has no supervisor any more is killed as soon as it is found.
    if (error != 0) kill(supervisor, SIGKILL);
    if (command->answer_by != 0) return 0;
    command->answer_by = loop_now() + ANSWER_NS;
    command->supervisor.has_answered = false;
    deadlines_update(command);
    return 0;
}

/// It kills since the last time, and is asked whether it goes on with that; or it does nothing.
static void give_up(struct command *command) {
    command->answer_by = 0;
    if (command->supervisor.has_answered) {
        kill_all(command);
    } else if (command->supervisor.process.is_there) {
        kill(command->supervisor.process.fork.pid, SIGKILL);
    }
}

static int freeze(struct command *command, bool is_frozen) {
    const int error = order_stillness(command, (struct supervisor_order){.kind = is_frozen ? ORDER_FREEZE : ORDER_THAW});
    if (error == 0) command->supervisor.owes_stillness = true;
    return error;
}

static void close_home(struct command *command) {
    const int socket = command->supervisor.reports.descriptor;
    if (socket < 0) return;
    loop_forget(&command->supervisor.reports);
    close(socket);
}

const struct home home_below_supervisor = {
    .begin = begin,
    .begin_handler = begin_handler,
    .signal = signal_all,
    .kill = kill_all,
    .freeze = freeze,
    .give_up = give_up,
    .close = close_home,
};
