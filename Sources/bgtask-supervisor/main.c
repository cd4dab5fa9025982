// bgtask-supervisor: holds the processes of one task together where no cgroup can.
//
// As a child subreaper it becomes the parent of whatever its command leaves behind, daemonized
// processes included, so that "no child left" means that nothing of the task is left. It ends
// everything when its daemon orders so, or is gone.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "CLinux.h"
#include "request.h"

enum {
    EXIT_USAGE = 64,
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

/// What is done in rounds, with a pause in between.
enum work { WORK_NONE, WORK_FREEZE, WORK_KILL };

static struct {
    pid_t command;
    int children_changed;
    /// -1 once the daemon is gone.
    int control;
    enum work work;
    int pause_ms;
    int64_t next_round_ms;
    /// Of the freeze that is under way.
    int freeze_rounds;
    /// Whether the last round found all of them stopped.
    bool is_freeze_seen;
    struct clx_processes seen;
} self = {.control = CLX_SUPERVISOR_CONTROL, .pause_ms = ROUND_PAUSE_MIN_MS};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell(struct clx_supervisor_report message) {
    if (self.control < 0) return;
    send(self.control, &message, sizeof message, MSG_NOSIGNAL);
}

static void report(enum clx_supervisor_report_kind kind, pid_t pid, int stage, int code) {
    tell((struct clx_supervisor_report){.kind = kind, .pid = pid, .stage = stage, .code = code});
}

/// All descendants have been reaped here, or waited for by one that was.
static void report_gone(void) {
    const struct clx_use use = clx_children_use();
    tell((struct clx_supervisor_report){
        .kind = CLX_REPORT_GONE,
        .cpu_us = use.cpu_us,
        .memory_peak_bytes = use.memory_peak_bytes,
    });
}

// MARK: - Start

/// No signal but SIGKILL and SIGSTOP reaches this process; children get an empty mask again.
static int set_up(void) {
    sigset_t all, child;
    sigfillset(&all);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0) return -1;
    if (clx_become_subreaper() < 0) return -1;
    if (fcntl(CLX_SUPERVISOR_CONTROL, F_SETFD, FD_CLOEXEC) < 0) return -1;
    if (fcntl(CLX_SUPERVISOR_REQUEST, F_SETFD, FD_CLOEXEC) < 0) return -1;
    if (fcntl(CLX_SUPERVISOR_LOCK, F_SETFD, FD_CLOEXEC) < 0 && errno != EBADF) return -1;
    self.children_changed = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
    return self.children_changed < 0 ? -1 : prctl(PR_SET_NAME, "bgtask-superv", 0, 0, 0);
}

/// The command alone holds its output open, so that its readers see the end of it.
static void drop_output(void) {
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
}

static void start_command(void) {
    struct clx_spawn_request request;
    struct clx_spawn_result result = {.stage = CLX_STAGE_CLONE};
    int error = request_read(CLX_SUPERVISOR_REQUEST, &request);
    if (error == 0) {
        static const int descriptors[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
        request.descriptors = descriptors;
        request.descriptor_count = 3;
        request.parent_death_signal = SIGKILL;
        error = clx_spawn(&request, &result);
    }
    request_free();
    close(CLX_SUPERVISOR_REQUEST);
    drop_output();
    if (error != 0) {
        report(CLX_REPORT_FAILED, 0, (int)result.stage, error);
        return;
    }
    close(result.pidfd);
    self.command = result.pid;
    report(CLX_REPORT_STARTED, self.command, 0, 0);
}

// MARK: - Events

/// Returns false when no child is left.
static bool reap(void) {
    for (int i = 0; i < REAP_BATCH; i++) {
        struct clx_exit end;
        int reaped = clx_reap(0, &end);
        if (reaped < 0) return errno != ECHILD;
        if (reaped == 0) return true;
        if (end.pid != self.command) continue;
        report(end.was_signalled ? CLX_REPORT_SIGNALLED : CLX_REPORT_EXITED, end.pid, 0,
               end.status);
        self.command = 0;
    }
    return true;
}

static void begin(enum work work) {
    // A kill ends with the last descendant, and nothing takes its place.
    if (self.work == WORK_KILL) return;
    self.work = work;
    self.pause_ms = ROUND_PAUSE_MIN_MS;
    self.next_round_ms = 0;
    self.freeze_rounds = 0;
    self.is_freeze_seen = false;
    clx_processes_free(&self.seen);
}

/// Also lets go on what was stopped by a freeze that is not complete.
static void thaw(void) {
    begin(WORK_NONE);
    if (self.work == WORK_NONE) clx_descendants_signal(SIGCONT);
}

static void obey(const struct clx_supervisor_order *order) {
    switch ((enum clx_supervisor_order_kind)order->kind) {
    case CLX_ORDER_SIGNAL:
        clx_descendants_signal(order->number);
        break;
    case CLX_ORDER_KILL:
        begin(WORK_KILL);
        break;
    case CLX_ORDER_FREEZE:
        begin(WORK_FREEZE);
        break;
    case CLX_ORDER_THAW:
        thaw();
        report(CLX_REPORT_THAWED, 0, 0, 0);
        break;
    }
}

static void read_orders(void) {
    struct clx_supervisor_order order;
    for (;;) {
        ssize_t length = recv(self.control, &order, sizeof order, MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) {
            close(self.control);
            self.control = -1;
            begin(WORK_KILL);
            return;
        }
        if (length == sizeof order) obey(&order);
    }
}

// MARK: - Rounds

/// Kills what is there now. Rounds come ever slower, for a process that cannot die (in an
/// uninterruptible wait, or of another user) must not keep the machine busy.
static void kill_round(void) {
    clx_descendants_kill(NULL, 0, SWEEPS_MAX);
    self.next_round_ms = now_ms() + self.pause_ms;
    if (self.pause_ms < ROUND_PAUSE_MAX_MS) self.pause_ms *= 2;
}

/// Stops what is there now, several times in a row for those that fork. Undone where it does not come
/// to an end.
static void freeze_round(void) {
    struct clx_unstopped unstopped = {.error = ETIMEDOUT};
    long running = 1;
    for (int sweep = 0; sweep < FREEZE_SWEEPS && running > 0; sweep++) {
        running = clx_descendants_stop(&self.seen, &unstopped);
    }
    const bool is_confirmed = running == 0 && self.is_freeze_seen;
    self.is_freeze_seen = running == 0;
    if (is_confirmed) {
        begin(WORK_NONE);
        report(CLX_REPORT_FROZEN, 0, 0, 0);
    } else if (running == 0) {
        self.next_round_ms = now_ms() + FREEZE_CONFIRM_MS;
    } else if (running < 0 || ++self.freeze_rounds >= FREEZE_ROUNDS_MAX) {
        thaw();
        report(CLX_REPORT_FREEZE_FAILED, unstopped.pid, 0,
               running < 0 ? (int)-running : unstopped.error);
    } else {
        self.next_round_ms = now_ms() + self.pause_ms;
        if (self.pause_ms < FREEZE_PAUSE_MAX_MS) self.pause_ms *= 2;
    }
}

static int milliseconds_to_wait(void) {
    if (self.work == WORK_NONE) return -1;
    int64_t left = self.next_round_ms - now_ms();
    return left > 0 ? (int)left : 0;
}

static void turn(void) {
    struct pollfd sources[] = {
        {.fd = self.children_changed, .events = POLLIN},
        {.fd = self.control, .events = POLLIN},
    };
    if (poll(sources, 2, milliseconds_to_wait()) < 0 && errno != EINTR) _exit(EXIT_SYSTEM);
    struct signalfd_siginfo ignored;
    while (read(self.children_changed, &ignored, sizeof ignored) > 0) {}
    if (self.control >= 0 && sources[1].revents != 0) read_orders();
    if (milliseconds_to_wait() != 0) return;
    if (self.work == WORK_KILL) kill_round();
    if (self.work == WORK_FREEZE) freeze_round();
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count < 2 || set_up() < 0) {
        fputs("bgtask-supervisor: is started by bgtaskd, for each task where no cgroup can be"
              " had\n", stderr);
        return EXIT_USAGE;
    }
    start_command();
    while (reap()) turn();
    report_gone();
    return 0;
}
