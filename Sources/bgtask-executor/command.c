#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deadlines.h"
#include "process.h"
#include "reports.h"
#include "strays.h"
#include "table.h"

enum { WORK_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL };

static void settle(struct command *command);

bool command_reap(pid_t process) {
    struct child *child = table_child(process);
    if (child == NULL) return false;
    child->running.ready(&child->running, 0);
    return true;
}

// MARK: - Start

static void close_both(int ends[2]) {
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) close(ends[i]);
        ends[i] = -1;
    }
}

/// Takes the work out of a memory file that nobody can change any more. Returns 0 or an errno.
static int read_work(struct command *command, int file) {
    struct stat status;
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & WORK_SEALS) != WORK_SEALS) return EPERM;
    if (fstat(file, &status) < 0) return errno;
    if (status.st_size <= 0 || status.st_size > EXECUTOR_WORK_BYTES_MAX) return EBADMSG;
    command->work_length = (size_t)status.st_size;
    command->work_bytes = mmap(NULL, command->work_length, PROT_READ, MAP_PRIVATE, file, 0);
    if (command->work_bytes == MAP_FAILED) {
        command->work_bytes = NULL;
        return errno;
    }
    return executor_work_read(command->work_bytes, command->work_length, &command->work);
}

static void drop_work(struct command *command) {
    executor_work_free(&command->work);
    if (command->work_bytes != NULL) munmap(command->work_bytes, command->work_length);
    command->work_bytes = NULL;
}

/// Of those that may be open, a quarter or 320 stay free of commands.
static long descriptors_max(void) {
    enum { SPARE = 320 };
    const long all = sysconf(_SC_OPEN_MAX);
    if (all < 0) return LONG_MAX;
    return all - (all / 4 < SPARE ? all / 4 : SPARE);
}

static int open_output(struct command *command) {
    for (int i = 0; i < 2; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0) return errno;
        command->output[i] = ends[0];
        command->writing[i] = ends[1];
        // The kernel gives the lowest that is free. The others are for the daemon, for signals and for the limits.
        if (ends[0] >= descriptors_max() || ends[1] >= descriptors_max()) return EMFILE;
        if ((command->work.header.flags & EXECUTOR_CHANGES_USER) != 0
            // To open /dev/stderr or /proc/self/fd/1, as scripts do, needs the right to open the pipe itself.
            && fchown(ends[1], command->work.header.user, command->work.header.group) < 0) return errno;
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) return errno;
    }
    return 0;
}

static int begin(struct command *command, struct child *child, char **arguments, int input) {
    const struct executor_work *work = &command->work;
    const int descriptors[] = {input, command->writing[0], command->writing[1]};
    const struct clx_spawn_request request = {
        .arguments = arguments,
        .environment = work->environment,
        .directory = work->directory,
        .directory_fallback = work->directory_fallback,
        .search_path = work->search_path,
        .descriptors = descriptors,
        .descriptor_count = 3,
        .cgroup = command->group.folder,
        .file_mode_mask = work->header.file_mode_mask,
        .open_files_soft = work->header.open_files_soft,
        .no_new_privileges = (work->header.flags & EXECUTOR_NO_NEW_PRIVILEGES) != 0,
        .changes_user = (work->header.flags & EXECUTOR_CHANGES_USER) != 0,
        .user = work->header.user,
        .group = work->header.group,
        .groups = work->groups,
        .group_count = work->header.group_count,
    };
    int error = clx_fork_begin(&request, &child->fork, &child->stage);
    if (error != 0) return error;
    child->is_there = true;
    table_enter_child(child);
    strays_learn(command, child->fork.pid);
    error = loop_watch(&child->starting, child->fork.report, EPOLLIN);
    // Without being told of its start it is told of its end, if need be by SIGCHLD. Once only: a child whose tracer
    // keeps its end to itself has ended and cannot be reaped, and the kernel tells again when it can.
    if (error == 0) error = loop_watch(&child->running, child->fork.pidfd, EPOLLIN | EPOLLET);
    if (error != 0) {
        clx_pidfd_send_signal(child->fork.pidfd, SIGKILL);
        child->stage = CLX_STAGE_CLONE;
    }
    return error;
}

static void end_child(struct child *child) {
    loop_forget(&child->starting);
    loop_forget(&child->running);
    if (child->fork.report >= 0) close(child->fork.report);
    if (child->fork.pidfd >= 0) close(child->fork.pidfd);
    child->fork.report = child->fork.pidfd = -1;
}

/// The program of a child runs, or has failed to.
static void started(struct command *command, struct child *child) {
    enum clx_stage stage;
    if (!clx_fork_result(&child->fork, &stage, &child->error)) return;
    loop_forget(&child->starting);
    close(child->fork.report);
    child->fork.report = -1;
    child->stage = stage;
    if (stage != CLX_STAGE_NONE) return;
    child->has_started = true;
    child->started_at = loop_now();
    child->session = strays_session(child->fork.pid);
    if (child != &command->main) return;
    command->phase = PHASE_RUNNING;
    if (command->wants_frozen) group_freeze(&command->group, true);
    reports_add(command, REPORT_STARTED);
}

static void handler_is_over(struct command *command) {
    command->handler_over = command->handler;
    reports_add(command, REPORT_HANDLER_EXITED);
}

static void ended(struct command *command, struct child *child) {
    // What it has to tell of its start comes first.
    if (child->starting.descriptor >= 0) started(command, child);
    // What somebody else has reaped is over too.
    const int reaped = clx_reap_pidfd(child->fork.pidfd, &child->exit);
    if (reaped == 0 || (reaped < 0 && errno != ECHILD)) return;
    table_leave_child(child);
    end_child(child);
    child->is_there = false;
    child->exited_at = loop_now();
    const bool is_main = child == &command->main;
    if (child->has_started) {
        child->has_exited = true;
        if (is_main) reports_add(command, REPORT_EXITED);
    }
    if (!is_main) handler_is_over(command);
    settle(command);
}

#define OWNER(source, type, field) ((type *)(void *)((char *)(source) - offsetof(type, field)))

static void child_started(struct source *source, uint32_t events) {
    (void)events;
    struct child *child = OWNER(source, struct child, starting);
    started(child->command, child);
}

static void child_ended(struct source *source, uint32_t events) {
    (void)events;
    struct child *child = OWNER(source, struct child, running);
    ended(child->command, child);
}

static void group_changed(struct source *source, uint32_t events) {
    (void)events;
    settle(OWNER(source, struct command, group_source));
}

static void prepare_child(struct command *command, struct child *child) {
    *child = (struct child){
        .command = command,
        .starting = {.ready = child_started, .descriptor = -1},
        .running = {.ready = child_ended, .descriptor = -1},
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
    command->group = (struct group){.folder = -1, .events = -1};
    command->group_source = (struct source){.ready = group_changed, .descriptor = -1};
    command->output[0] = command->output[1] = command->writing[0] = command->writing[1] = command->kept = -1;
    command->place = -1;
    prepare_child(command, &command->main);
    prepare_child(command, &command->handler);
    return command;
}

static void drop(struct command *command) {
    drop_work(command);
    close_both(command->output);
    close_both(command->writing);
    if (command->kept >= 0) close(command->kept);
    loop_forget(&command->group_source);
    if (command->group.folder >= 0) group_remove(&command->group);
    group_close(&command->group);
    free(command);
}

static int start(struct command *command, int work, int input) {
    command->main.stage = CLX_STAGE_CLONE;
    command->began_at = process_ticks();
    int error = read_work(command, work);
    const bool changes_user = (command->work.header.flags & EXECUTOR_CHANGES_USER) != 0;
    command->user = changes_user ? command->work.header.user : geteuid();
    if (error == 0) error = open_output(command);
    if (error == 0) error = group_make(&command->group, command->work.header.processes_max);
    if (error == 0) table_enter_group(command);
    if (error == 0) error = loop_watch(&command->group_source, command->group.events, EPOLLPRI);
    const int empty = input >= 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (error == 0 && input < 0 && empty < 0) error = errno;
    if (error == 0) {
        error = begin(command, &command->main, command->work.arguments, input >= 0 ? input : empty);
    }
    if (empty >= 0) close(empty);
    return error;
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
        if (kept >= 0) close(kept);
    } else {
        command->kept = kept;
        table_enter(command);
        command->main.error = start(command, descriptors[0], input);
        if (command->main.error != 0 && !command->main.is_there) {
            command->phase = PHASE_FAILED;
            command->gone_at = now;
            close_both(command->writing);
            loop_forget(&command->group_source);
            if (command->group.folder >= 0 && group_remove(&command->group) == 0) command->group.folder = -1;
            drop_work(command);
            reports_add(command, REPORT_NOT_STARTED);
        } else if (command->work.header.handler_argument_count == 0) {
            // The child has a copy, and nothing else needs it.
            drop_work(command);
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

/// Where the kernel counts no memory of groups: the most that a child held. A child's count begins with what this process
/// held when it was forked (getrusage(2)), so that it says nothing up to there; 0 then.
static uint64_t peak_of_children(const struct command *command) {
    struct rusage own;
    const uint64_t main = command->main.exit.use.memory_peak_bytes;
    const uint64_t handler = command->handler.exit.use.memory_peak_bytes;
    const uint64_t peak = main > handler ? main : handler;
    if (getrusage(RUSAGE_SELF, &own) < 0) return 0;
    const uint64_t inherited = (uint64_t)own.ru_maxrss * 1024;
    return peak > inherited + inherited / 8 ? peak : 0;
}

// MARK: - Its course

/// No process of it is left.
static void end(struct command *command) {
    command->gone_at = loop_now();
    command->use = group_use(&command->group);
    if (command->use.memory_peak_bytes == 0) command->use.memory_peak_bytes = peak_of_children(command);
    const bool has_run = command->main.has_started;
    command->phase = has_run ? PHASE_GONE : PHASE_FAILED;
    deadlines_update(command);
    loop_forget(&command->group_source);
    if (group_remove(&command->group) == 0) command->group.folder = -1;
    drop_work(command);
    reports_add(command, has_run ? REPORT_GONE : REPORT_NOT_STARTED);
}

/// Looks how its group is. Returns whether nobody of it is left there, and no child.
static bool is_empty(struct command *command) {
    const struct group_state state = group_read(&command->group);
    if (state.is_frozen != command->is_frozen) {
        command->is_frozen = state.is_frozen;
        command->frozen_at = loop_now();
        reports_add(command, REPORT_FROZEN);
    }
    if (command->main.is_there) return false;
    close_both(command->writing);
    return !command->handler.is_there && !state.is_populated;
}

static void settle(struct command *command) {
    if (command_is_over(command) || !is_empty(command)) return;
    // What has never run has left nobody elsewhere.
    if (!command->main.has_started || strays_are_gone(command)) end(command);
}

void command_strays_are_gone(struct command *command) {
    // Somebody may have come back into its group.
    if (!command_is_over(command) && is_empty(command)) end(command);
}

bool command_is_over(const struct command *command) {
    return command->phase == PHASE_GONE || command->phase == PHASE_FAILED;
}

int command_set_deadlines(struct command *command, const struct executor_record *order) {
    if (command_is_over(command)) return ESRCH;
    // The daemon does not know yet that the handler has run, and would choose otherwise.
    if (order->number != command->fired) return EAGAIN;
    const bool runs_again = (order->flags & EXECUTOR_HANDLER_AGAIN) != 0;
    const bool is_past = command->limit_has_fired || (command->fired > 0 && !runs_again);
    // What is being ended is given no more time.
    if (!command->is_drained) command->handler_at = is_past ? 0 : order->handler_at;
    const bool is_earlier = order->limit_at != 0 && order->limit_at < command->limit_at;
    if (!command->is_drained || is_earlier) command->limit_at = order->limit_at;
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
    // Frozen processes handle no signal but SIGKILL.
    command->wants_frozen = false;
    int error = group_freeze(&command->group, false);
    if (error != 0) return error;
    strays_freeze(command, false);
    const pid_t first = command->main.is_there ? command->main.fork.pid : 0;
    bool had_first;
    error = group_signal(&command->group, number, first, signalled, &had_first);
    // It may have left its group, as others that get it when they are found.
    const bool has_left = error == 0 && first != 0 && !had_first;
    if (has_left && clx_pidfd_send_signal(command->main.fork.pidfd, number) == 0) (*signalled)++;
    strays_signal(command, number);
    return error;
}

int command_kill(struct command *command) {
    if (command_is_over(command)) return ESRCH;
    const int error = group_kill(&command->group);
    // A child that was being forked may not be in the group yet.
    if (command->main.is_there) clx_pidfd_send_signal(command->main.fork.pidfd, SIGKILL);
    if (command->handler.is_there) clx_pidfd_send_signal(command->handler.fork.pidfd, SIGKILL);
    strays_signal(command, SIGKILL);
    return error;
}

int command_freeze(struct command *command, bool is_frozen) {
    if (command_is_over(command)) return ESRCH;
    command->wants_frozen = is_frozen;
    // As above: one that is being started is frozen when its program runs.
    if (command->phase == PHASE_STARTING) return 0;
    const int error = group_freeze(&command->group, is_frozen);
    strays_freeze(command, is_frozen);
    // The kernel holds changes back for some milliseconds; a look tells the truth at once.
    if (error == 0) settle(command);
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
    command->has_fired_by_drain = command->is_drained;
    reports_add(command, REPORT_HANDLER);
    send_handler_signal(command);
    if (command->work.header.handler_argument_count == 0) return;
    if (command->handler.is_there) return;
    // The command itself may be gone; the daemon waits for its handler all the same.
    const int input = command->main.is_there ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (!command->main.is_there) errno = ESRCH;
    prepare_child(command, &command->handler);
    command->handler.stage = CLX_STAGE_CLONE;
    command->handler.exited_at = now;
    command->handler.error =
        input < 0 ? errno : begin(command, &command->handler, command->work.handler_arguments, input);
    if (input >= 0) close(input);
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

int command_fire_due(uint64_t now) {
    for (struct command *command; (command = deadlines_first()) != NULL;) {
        const uint64_t due = deadline_of(command);
        // Rounded up, so that it is due by then.
        if (due > now) return due - now > 3600000000000 ? 3600000 : (int)((due - now + 999999) / 1000000);
        if (command->limit_at != 0 && command->limit_at <= now) {
            fire_limit(command, now);
        } else {
            fire_handler(command, now);
        }
        deadlines_update(command);
    }
    return -1;
}

static void drain(struct command *command) {
    const uint64_t now = loop_now();
    if (command_is_over(command) || command->limit_has_fired || command->is_drained) return;
    command->is_drained = true;
    if (command->fired == 0) command->handler_at = now;
    const uint64_t limit_at = now + command->grace;
    if (command->limit_at == 0 || command->limit_at > limit_at) command->limit_at = limit_at;
    deadlines_update(command);
}

void command_drain_all(void) {
    command_each(drain);
}

// MARK: - The end

void command_forget(struct command *command) {
    table_leave(command);
    deadlines_remove(command);
    reports_drop(command);
    drop(command);
}
