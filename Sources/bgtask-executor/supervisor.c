#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor_record.h"

enum {
    EXIT_SYSTEM = 71,
    /// Zombies reaped before the orders are looked at again.
    REAP_BATCH = 1024,
    /// Sweeps of one round; a sweep reads all of /proc.
    SWEEPS_MAX = 64,
    ROUND_PAUSE_MIN_MS = 4,
    ROUND_PAUSE_MAX_MS = 512,
    /// A freeze is given up after so many rounds, which is after two seconds or more.
    FREEZE_ROUNDS_MAX = 64,
    FREEZE_SWEEPS = 8,
    FREEZE_PAUSE_MAX_MS = 32,
    /// How long after a look that finds all stopped another one has to: whoever forks and ends all the time can be
    /// missed by a look at /proc, which takes its time, and has many more descendants after this.
    FREEZE_CONFIRM_MS = 2,
};

/// Its descriptors.
enum { INPUT, OUTPUT, ERRORS, CONTROL, LOCK = EXECUTOR_LOCK_OF_SUPERVISORS, NOTHING, PROC, DESCRIPTORS };

/// What is done in rounds, with a pause in between.
enum task { TASK_NONE, TASK_FREEZE, TASK_KILL };

/// The command, or that of its handler.
struct supervised_child {
    struct clx_fork fork;
    bool is_there;
};

static const struct work *work;
static struct supervised_child command, handler;
static int children_changed, control = CONTROL;
static enum task task;
static bool is_frozen;
static int pause_ms;
static int64_t next_round_ms;
/// Of the freeze that is under way; and whether its last round found all of them stopped.
static int freeze_rounds;
/// Of the last order to stop all or let them go on.
static uint32_t stillness_order;
static bool is_freeze_seen;
static struct clx_processes seen;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell(struct supervisor_report report) {
    if (control >= 0) send(control, &report, sizeof report, MSG_NOSIGNAL);
}

/// Whose command it is.
static uid_t user(void) {
    const struct executor_work_header *header = &work->read.header;
    return (header->flags & EXECUTOR_CHANGES_USER) != 0 ? header->user : geteuid();
}

// MARK: - Children

/// Looks whether the start of a child is over, and tells of it.
static void look_at_start(struct supervised_child *child) {
    struct supervisor_report report = {
        .kind = TOLD_STARTED, .is_of_handler = child == &handler, .pid = child->fork.pid};
    if (child->fork.report < 0 || !clx_fork_result(&child->fork, &report.stage, &report.error)) return;
    close(child->fork.report);
    child->fork.report = -1;
    tell(report);
}

static void ended(struct supervised_child *child, const struct clx_exit *end) {
    look_at_start(child);
    child->is_there = false;
    tell((struct supervisor_report){.kind = TOLD_ENDED, .is_of_handler = child == &handler, .end = *end});
    if (child != &command) return;
    // Its readers see the end of its output when nobody else has it.
    dup3(NOTHING, OUTPUT, O_CLOEXEC);
    dup3(NOTHING, ERRORS, O_CLOEXEC);
}

static void begin(struct supervised_child *child, char **arguments, int input) {
    const int descriptors[] = {input, OUTPUT, ERRORS};
    struct supervisor_report report = {.kind = TOLD_STARTED, .is_of_handler = child == &handler};
    struct clx_spawn_request request = work_request(work, arguments, descriptors);
    request.parent_death_signal = SIGKILL;
    report.error = child == &handler && !command.is_there ? ESRCH : clx_fork_begin(&request, &child->fork, &report.stage);
    child->is_there = report.error == 0;
    if (child->is_there) {
        close(child->fork.pidfd);
        return;
    }
    if (report.stage == CLX_STAGE_NONE) report.stage = CLX_STAGE_CLONE;
    child->fork.report = -1;
    tell(report);
    ended(child, &(struct clx_exit){0});
}

/// Returns false when no child is left.
static bool reap(void) {
    for (int i = 0; i < REAP_BATCH; i++) {
        struct clx_exit end;
        const int reaped = clx_reap(0, &end);
        if (reaped < 0) return errno != ECHILD;
        if (reaped == 0) return true;
        if (command.is_there && end.pid == command.fork.pid) ended(&command, &end);
        if (handler.is_there && end.pid == handler.fork.pid) ended(&handler, &end);
    }
    return true;
}

// MARK: - Orders

static void begin_task(enum task next) {
    // A kill ends with the last descendant, and nothing takes its place.
    if (task == TASK_KILL) return;
    task = next;
    pause_ms = ROUND_PAUSE_MIN_MS;
    next_round_ms = freeze_rounds = 0;
    is_freeze_seen = false;
    clx_processes_free(&seen);
}

/// Also lets go on what was stopped by a freeze that is not complete.
static void thaw(void) {
    if (!is_frozen && task != TASK_FREEZE) return;
    begin_task(TASK_NONE);
    clx_descendants_signal(SIGCONT, user());
    is_frozen = false;
}

static void tell_stillness(enum supervisor_report_kind kind, int error) {
    tell((struct supervisor_report){.kind = kind, .error = error, .number = stillness_order});
}

static void obey(const struct supervisor_order *order) {
    switch (order->kind) {
    case ORDER_SIGNAL:
        stillness_order = order->number;
        thaw();
        tell_stillness(TOLD_THAWED, 0);
        clx_descendants_signal(order->signal, user());
        return;
    case ORDER_KILL:
        begin_task(TASK_KILL);
        tell((struct supervisor_report){.kind = TOLD_KILLING});
        return;
    case ORDER_FREEZE:
        stillness_order = order->number;
        // A handler that was begun meanwhile is stopped yet.
        if (is_frozen && task == TASK_FREEZE) return;
        if (is_frozen) tell_stillness(TOLD_FROZEN, 0);
        else begin_task(TASK_FREEZE);
        return;
    case ORDER_THAW:
        stillness_order = order->number;
        thaw();
        tell_stillness(TOLD_THAWED, 0);
        return;
    case ORDER_HANDLER:
        begin(&handler, work->read.handler_arguments, NOTHING);
        // It stands still with the others.
        if (is_frozen) begin_task(TASK_FREEZE);
        return;
    }
}

static void read_orders(void) {
    struct supervisor_order order;
    for (;;) {
        const ssize_t length = recv(control, &order, sizeof order, MSG_DONTWAIT);
        if (length < 0 && errno == EAGAIN) return;
        if (length == sizeof order) {
            obey(&order);
            continue;
        }
        // The executor is gone.
        close(control);
        control = -1;
        begin_task(TASK_KILL);
        return;
    }
}

// MARK: - Rounds

/// Kills what is there now. Rounds come ever slower, for a process that cannot die (in an uninterruptible wait, or of
/// another user) must not keep the machine busy.
static void kill_round(void) {
    clx_descendants_kill(NULL, 0, SWEEPS_MAX);
    next_round_ms = now_ms() + pause_ms;
    if (pause_ms < ROUND_PAUSE_MAX_MS) pause_ms *= 2;
}

/// Stops what is there now, several times in a row for those that fork. Undone where it does not come to an end.
static void freeze_round(void) {
    struct clx_unstopped unstopped = {.error = ETIMEDOUT, .has_changed = true};
    long running = 1;
    for (int sweep = 0; sweep < FREEZE_SWEEPS && running > 0 && unstopped.has_changed; sweep++) {
        unstopped.has_changed = false;
        running = clx_descendants_stop(&seen, user(), &unstopped);
    }
    const bool is_confirmed = running == 0 && is_freeze_seen;
    is_freeze_seen = running == 0;
    if (is_confirmed) {
        begin_task(TASK_NONE);
        is_frozen = true;
        tell_stillness(TOLD_FROZEN, 0);
    } else if (running == 0) {
        next_round_ms = now_ms() + FREEZE_CONFIRM_MS;
    } else if (running < 0 || unstopped.error == EPERM || ++freeze_rounds >= FREEZE_ROUNDS_MAX) {
        thaw();
        tell_stillness(TOLD_FREEZE_FAILED, running < 0 ? (int)-running : unstopped.error);
    } else {
        next_round_ms = now_ms() + pause_ms;
        if (pause_ms < FREEZE_PAUSE_MAX_MS) pause_ms *= 2;
    }
}

static int milliseconds_to_wait(void) {
    if (task == TASK_NONE) return -1;
    const int64_t left = next_round_ms - now_ms();
    return left > 0 ? (int)left : 0;
}

static void turn(void) {
    struct pollfd sources[] = {
        {.fd = children_changed, .events = POLLIN},
        {.fd = control, .events = POLLIN},
        {.fd = command.fork.report, .events = POLLIN},
        {.fd = handler.fork.report, .events = POLLIN},
    };
    if (poll(sources, sizeof sources / sizeof sources[0], milliseconds_to_wait()) < 0 && errno != EINTR) _exit(EXIT_SYSTEM);
    if (sources[0].revents != 0) clx_children_watched(children_changed);
    look_at_start(&command);
    look_at_start(&handler);
    if (control >= 0 && sources[1].revents != 0) read_orders();
    if (milliseconds_to_wait() != 0) return;
    if (task == TASK_KILL) kill_round();
    if (task == TASK_FREEZE) freeze_round();
}

// MARK: - Start

/// Leaves it with its own descriptors. They are moved up first, so that none takes the place of another.
static bool arrange(const struct supervisor_start *start) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int sources[DESCRIPTORS] = {
        start->input >= 0 ? start->input : nothing, start->output[0], start->output[1], start->control, start->lock, nothing,
        clx_proc_descriptor() >= 0 ? clx_proc_descriptor() : nothing,
    };
    if (nothing < 0) return false;
    for (int i = 0; i < DESCRIPTORS; i++) {
        sources[i] = fcntl(sources[i], F_DUPFD_CLOEXEC, DESCRIPTORS);
        if (sources[i] < 0) return false;
    }
    for (int i = 0; i < DESCRIPTORS; i++) {
        if (dup3(sources[i], i, O_CLOEXEC) < 0) return false;
    }
    if (clx_proc_descriptor() >= 0) clx_proc_is_at(PROC);
    return syscall(SYS_close_range, DESCRIPTORS, ~0U, 0U) == 0;
}

/// No signal but SIGKILL and SIGSTOP reaches this process; children get an empty mask again.
static bool set_up(const struct supervisor_start *start) {
    sigset_t all;
    sigfillset(&all);
    // It goes on when the executor is gone, and kills, also where somebody has stopped it.
    return arrange(start) && sigprocmask(SIG_SETMASK, &all, NULL) == 0 && clx_become_subreaper() == 0
           && prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0) == 0 && prctl(PR_SET_NAME, "bgtask-superv", 0, 0, 0) == 0
           && (children_changed = clx_watch_children()) >= 0;
}

void supervisor_run(const struct supervisor_start *start) {
    work = start->work;
    command.fork.report = handler.fork.report = -1;
    // Nothing is told then, and the executor sees that it is gone.
    if (!set_up(start)) _exit(EXIT_SYSTEM);
    begin(&command, work->read.arguments, INPUT);
    dup3(NOTHING, INPUT, O_CLOEXEC);
    while (reap()) turn();
    tell((struct supervisor_report){.kind = TOLD_GONE, .use = clx_children_use()});
    _exit(0);
}
