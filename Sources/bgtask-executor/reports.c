#include "reports.h"

#include <string.h>

static struct command *first, *last;

// MARK: - The queue

void reports_add(struct command *command, unsigned reports) {
    command->untold |= reports;
    if (command->is_queued) return;
    command->is_queued = true;
    command->next_untold = NULL;
    if (first == NULL) {
        first = command;
    } else {
        last->next_untold = command;
    }
    last = command;
}

bool reports_are_there(void) {
    return first != NULL;
}

struct command *reports_take(void) {
    struct command *command = first;
    if (command == NULL) return NULL;
    first = command->next_untold;
    command->is_queued = false;
    return command;
}

void reports_put_back(struct command *command) {
    if (first == NULL) last = command;
    command->next_untold = first;
    first = command;
    command->is_queued = true;
}

void reports_drop(struct command *command) {
    if (!command->is_queued) return;
    struct command *before = NULL;
    for (struct command *at = first; at != command; at = at->next_untold) before = at;
    if (before == NULL) {
        first = command->next_untold;
    } else {
        before->next_untold = command->next_untold;
    }
    if (last == command) last = before;
    command->is_queued = false;
}

unsigned reports_behind_entry(const struct command *command) {
    unsigned all = 0;
    if (command->phase == PHASE_FAILED) all |= REPORT_NOT_STARTED;
    if (command->fired > 0) all |= REPORT_HANDLER;
    if (command->limit_has_fired) all |= REPORT_LIMIT;
    if (command->is_frozen && command->phase == PHASE_RUNNING) all |= REPORT_FROZEN;
    if (command->main.has_exited) all |= REPORT_EXITED;
    if (command->handler_over.command != NULL && !command->handler.is_there) all |= REPORT_HANDLER_EXITED;
    if (command->phase == PHASE_GONE) all |= REPORT_GONE;
    return all;
}

// MARK: - Records

static struct executor_record record_of(const struct command *command, enum executor_kind kind, uint64_t moment) {
    return (struct executor_record){
        .magic = EXECUTOR_MAGIC,
        .version = EXECUTOR_VERSION,
        .kind = kind,
        .command = command->key,
        .attempt = command->attempt,
        .moment = moment,
    };
}

static uint32_t flags_of(const struct command *command) {
    const struct child *main = &command->main;
    uint32_t flags = 0;
    if (main->has_started) flags |= EXECUTOR_HAS_STARTED;
    if (command->phase == PHASE_FAILED) flags |= EXECUTOR_HAS_FAILED;
    if (command->phase == PHASE_GONE) flags |= EXECUTOR_IS_GONE;
    if (command->is_frozen) flags |= EXECUTOR_IS_FROZEN;
    if (command->limit_has_fired) flags |= EXECUTOR_LIMIT_HAS_FIRED;
    if (command->kept >= 0) flags |= EXECUTOR_WITH_KEPT;
    if (main->has_exited) flags |= EXECUTOR_HAS_EXITED;
    if (main->has_exited && main->exit.was_signalled) flags |= EXECUTOR_BY_SIGNAL;
    if (command->handler.is_there) flags |= EXECUTOR_HANDLER_RUNS;
    return flags;
}

static struct executor_record entry(const struct command *command) {
    const struct child *main = &command->main;
    struct executor_record record = record_of(command, EXECUTOR_ENTRY, main->started_at);
    record.flags = flags_of(command);
    record.number = command->fired;
    record.pid = main->fork.pid;
    record.code = command->phase == PHASE_FAILED ? main->error : main->exit.status;
    record.handler_at = command->handler_at;
    record.limit_at = command->limit_at;
    record.grace = command->grace;
    const bool has_group = command->group != NULL && !command_is_over(command);
    record.cpu_us = has_group ? command->group->cpu_before_us : command->use.cpu_us;
    record.memory_peak_bytes = command->use.memory_peak_bytes;
    record.place = command->group_number;
    if (command->supervisor.process.is_there) record.supervisor = (uint32_t)command->supervisor.process.fork.pid;
    memcpy(record.notes, command->notes, sizeof record.notes);
    return record;
}

static struct executor_record start(const struct command *command) {
    struct executor_record record = record_of(command, EXECUTOR_STARTED, command->main.started_at);
    record.pid = command->main.fork.pid;
    record.place = command->group_number;
    record.supervisor = (uint32_t)command->supervisor.process.fork.pid;
    if (command->group != NULL) record.cpu_us = command->group->cpu_before_us;
    return record;
}

static struct executor_record failure(
    const struct command *command, const struct child *child, uint64_t moment) {
    struct executor_record record = record_of(command, EXECUTOR_NOT_STARTED, moment);
    record.number = child->stage;
    record.code = child->error;
    return record;
}

static struct executor_record end(const struct command *command, const struct child *child) {
    struct executor_record record = record_of(command, EXECUTOR_EXITED, child->exited_at);
    if (child->exit.was_signalled) record.flags = EXECUTOR_BY_SIGNAL;
    record.pid = child->fork.pid;
    record.code = child->exit.status;
    return record;
}

static struct executor_record handler_end(const struct command *command) {
    const struct child *handler = &command->handler_over;
    struct executor_record record =
        handler->has_exited ? end(command, handler) : failure(command, handler, handler->exited_at);
    record.flags |= EXECUTOR_OF_HANDLER;
    return record;
}

struct executor_record report_left(const struct command *command, const struct left *left) {
    struct executor_record record = {
        .magic = EXECUTOR_MAGIC,
        .version = EXECUTOR_VERSION,
        .kind = EXECUTOR_LEFT,
        .command = command == NULL ? 0 : command->key,
        .attempt = command == NULL ? 0 : command->attempt,
        .number = left->user,
        .pid = left->pid,
        .moment = left->moment,
    };
    memcpy(record.text, left->group, sizeof record.text);
    return record;
}

struct executor_record report_record(const struct command *command, enum report report) {
    struct executor_record record = {0};
    switch (report) {
    case REPORT_ENTRY: return entry(command);
    case REPORT_STARTED: return start(command);
    case REPORT_NOT_STARTED: return failure(command, &command->main, command->gone_at);
    case REPORT_HANDLER:
        record = record_of(command, EXECUTOR_HANDLER_FIRED, command->fired_at);
        record.number = command->fired;
        if (command->fired_for != DRAIN_NONE) record.flags = EXECUTOR_BY_DRAIN;
        if (command->fired_for == DRAIN_ABSENCE) record.flags |= EXECUTOR_BY_ABSENCE;
        return record;
    case REPORT_LIMIT: return record_of(command, EXECUTOR_LIMIT_FIRED, command->limit_fired_at);
    case REPORT_FROZEN:
        record = record_of(command, EXECUTOR_FROZEN, command->frozen_at);
        if (command->is_frozen) record.flags = EXECUTOR_IS_FROZEN;
        record.code = command->freeze_error;
        return record;
    case REPORT_LEFT: return report_left(command, &command->left);
    case REPORT_EXITED: return end(command, &command->main);
    case REPORT_HANDLER_EXITED: return handler_end(command);
    case REPORT_GONE:
        record = record_of(command, EXECUTOR_GONE, command->gone_at);
        record.cpu_us = command->use.cpu_us;
        record.memory_peak_bytes = command->use.memory_peak_bytes;
        return record;
    }
    return record;
}

// MARK: - Back from the disk

static void restore_entry(struct command *command, const struct executor_record *record) {
    const bool has_failed = (record->flags & EXECUTOR_HAS_FAILED) != 0;
    struct child *main = &command->main;
    command->phase = has_failed ? PHASE_FAILED : PHASE_GONE;
    command->fired = record->number;
    command->limit_has_fired = (record->flags & EXECUTOR_LIMIT_HAS_FIRED) != 0;
    command->use = (struct clx_use){record->cpu_us, record->memory_peak_bytes};
    main->fork.pid = record->pid;
    main->started_at = record->moment;
    main->has_started = (record->flags & EXECUTOR_HAS_STARTED) != 0;
}

static void restore_end(struct child *child, const struct executor_record *record) {
    child->fork.pid = record->pid;
    child->exited_at = record->moment;
    child->has_exited = record->kind == EXECUTOR_EXITED;
    if (child->has_exited) {
        child->exit.was_signalled = (record->flags & EXECUTOR_BY_SIGNAL) != 0;
        child->exit.status = record->code;
    } else {
        child->stage = (enum clx_stage)record->number;
        child->error = record->code;
    }
}

void report_restore(struct command *command, const struct executor_record *record) {
    switch ((enum executor_kind)record->kind) {
    case EXECUTOR_ENTRY: restore_entry(command, record); return;
    case EXECUTOR_HANDLER_FIRED:
        command->fired_at = record->moment;
        if ((record->flags & EXECUTOR_BY_DRAIN) != 0) {
            command->fired_for = (record->flags & EXECUTOR_BY_ABSENCE) != 0 ? DRAIN_ABSENCE : DRAIN_STOP;
        }
        return;
    case EXECUTOR_LIMIT_FIRED: command->limit_fired_at = record->moment; return;
    case EXECUTOR_GONE: command->gone_at = record->moment; return;
    case EXECUTOR_EXITED:
    case EXECUTOR_NOT_STARTED:
        if ((record->flags & EXECUTOR_OF_HANDLER) != 0) {
            command->handler_over.command = command;
            restore_end(&command->handler_over, record);
        } else {
            restore_end(&command->main, record);
            // Only of what did not start.
            if (record->kind == EXECUTOR_NOT_STARTED) command->gone_at = record->moment;
        }
        return;
    default: return;
    }
}
