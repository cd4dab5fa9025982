// Commands whose processes have a control group each.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "home.h"
#include "orphans.h"
#include "releases.h"
#include "strays.h"
#include "sweep.h"
#include "table.h"

// MARK: - Its processes

void command_refuse_freeze(struct command *command) {
    command->is_checked = false;
    command->is_thawing = true;
    sweep_drop(command->group);
    group_freeze(command->group, false);
    strays_freeze(command, false);
    command_is_frozen(command, false, EPERM);
}

static void checked(struct group *group, int error) {
    // They go on already.
    if (!group->command->is_checked) return;
    if (error != 0) {
        command_refuse_freeze(group->command);
    } else {
        command_is_frozen(group->command, true, 0);
    }
}

/// Only those stand still whom its user could stop as well. They are looked at when they do, since none of them becomes another
/// user's then.
static void take_stillness(struct command *command, bool is_frozen) {
    if (!is_frozen) command->is_checked = command->is_thawing = false;
    if (command->is_thawing) return;
    if (!is_frozen || command->is_frozen || !command->wants_frozen || command->user == 0) {
        command_is_frozen(command, is_frozen, 0);
        return;
    }
    if (command->is_checked) return;
    command->is_checked = true;
    const int error = sweep_check(command->group, command->user, checked);
    if (error != 0) command_is_frozen(command, true, 0);
}

/// Looks how its group is. Returns whether nobody of it is left there, and no child.
static bool is_empty(struct command *command) {
    const struct group_state state = group_read(command->group);
    take_stillness(command, state.is_frozen);
    return !command->main.is_there && !command->handler.is_there && !state.is_populated;
}

static void settle(struct command *command) {
    if (command_is_over(command) || !is_empty(command)) return;
    // What has never run has left nobody elsewhere.
    if (command->main.has_started) {
        orphans_settle(command);
    } else {
        command_end(command, group_use(command->group));
    }
}

void command_strays_are_gone(struct command *command) {
    // Somebody may have come back into its group.
    if (!command_is_over(command) && is_empty(command)) command_end(command, group_use(command->group));
}

/// The program of a child runs, or has failed to.
static void started(struct child *child) {
    if (!clx_fork_result(&child->fork, &child->stage, &child->error)) return;
    loop_forget(&child->starting);
    close(child->fork.report);
    child->fork.report = -1;
    // Others have this process's.
    if (child->stage == CLX_STAGE_NONE && child->command->changes_user) child->session = strays_session(child->fork.pid);
    command_child_started(child);
}

static void ended(struct child *child) {
    // What it has to tell of its start comes first.
    if (child->starting.descriptor >= 0) started(child);
    // What somebody else has reaped is over too.
    const int seen = clx_end_of_pidfd(child->fork.pidfd, &child->exit);
    if (seen == 0 || (seen < 0 && errno != ECHILD)) return;
    table_leave_child(child);
    if (seen > 0) releases_add(child->fork.pid);
    loop_forget(&child->starting);
    loop_forget(&child->running);
    if (child->fork.report >= 0) close(child->fork.report);
    close(child->fork.pidfd);
    child->fork.report = child->fork.pidfd = -1;
    command_child_ended(child);
    settle(child->command);
}

static void child_started(struct source *source, uint32_t events) {
    (void)events;
    started(OWNER(source, struct child, starting));
}

static void child_ended(struct source *source, uint32_t events) {
    (void)events;
    ended(OWNER(source, struct child, running));
}

static void group_changed(struct source *source, uint32_t events) {
    (void)events;
    struct group *group = OWNER(source, struct group, events);
    // One that waits to be used again: a look takes its readiness away.
    if (group->command == NULL) {
        group_read(group);
    } else {
        settle(group->command);
    }
}

static int begin_child(struct command *command, struct child *child, char **arguments, int input) {
    const int empty = input >= 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 && empty < 0) return errno;
    const int descriptors[] = {input >= 0 ? input : empty, command->writing[0], command->writing[1]};
    struct clx_spawn_request request = work_request(&command->work, arguments, descriptors);
    request.cgroup = command->group->folder;
    int error = clx_fork_begin(&request, &child->fork, &child->stage);
    if (empty >= 0) close(empty);
    if (error != 0) return error;
    child->is_there = true;
    child->starting.ready = child_started;
    child->running.ready = child_ended;
    table_enter_child(child);
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

// MARK: - The home

static int begin(struct command *command, int input) {
    int error = group_take(command, command->work.read.header.processes_max, group_changed);
    if (error != 0) return error;
    command->group_number = command->group->number;
    table_enter_group(command);
    error = begin_child(command, &command->main, command->work.read.arguments, input);
    // The child has a copy, and nothing else needs it.
    if (error == 0 && !command->has_handler) work_drop(&command->work);
    return error;
}

static int begin_handler(struct command *command) {
    return begin_child(command, &command->handler, command->work.read.handler_arguments, -1);
}

static int signal_all(struct command *command, int number, uint32_t *signalled) {
    // Frozen processes handle no signal but SIGKILL.
    int error = group_freeze(command->group, false);
    if (error != 0) return error;
    command->is_checked = false;
    strays_freeze(command, false);
    const pid_t first = command->main.is_there ? command->main.fork.pid : 0;
    bool had_first;
    error = sweep_signal(command->group, number, command->user, first, signalled, &had_first);
    // It may have left its group, as others that get it when they are found.
    const bool has_left = error == 0 && first != 0 && !had_first;
    if (has_left && clx_signal_for(command->user, first, command->main.fork.pidfd, number) == 0) (*signalled)++;
    strays_signal(command, number);
    return error;
}

static int kill_all(struct command *command) {
    const int error = group_kill(command->group);
    // A child that was being forked may not be in the group yet.
    if (command->main.is_there) clx_pidfd_send_signal(command->main.fork.pidfd, SIGKILL);
    if (command->handler.is_there) clx_pidfd_send_signal(command->handler.fork.pidfd, SIGKILL);
    strays_signal(command, SIGKILL);
    return error;
}

static int freeze(struct command *command, bool is_frozen) {
    const int error = group_freeze(command->group, is_frozen);
    command->is_checked = command->is_thawing = false;
    strays_freeze(command, is_frozen);
    // The kernel holds changes back for some milliseconds; a look tells the truth at once.
    if (error == 0) settle(command);
    return error;
}

/// Nothing is waited for: the kernel answers at once.
static void give_up(struct command *command) {
    command->answer_by = 0;
}

static void close_home(struct command *command) {
    orphans_forget(command);
    if (command->group == NULL) return;
    // From here on it may be another's.
    table_leave_group(command);
    group_give_back(command->group);
    command->group = NULL;
}

const struct home home_in_group = {
    .begin = begin,
    .begin_handler = begin_handler,
    .signal = signal_all,
    .kill = kill_all,
    .freeze = freeze,
    .give_up = give_up,
    .close = close_home,
};
