#include "brain.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "command.h"
#include "executor_transport.h"
#include "loop.h"

enum {
    /// Orders that are taken in one turn, so that what is due waits for no flood.
    ORDERS_PER_TURN = 64,
    /// Nor for orders that take long.
    TURN_NS = 5000000,
    /// Answers that wait for room in the socket. While they are that many, no order is taken.
    ANSWERS_MAX = 128,
};

static void ready(struct source *source, uint32_t events);

static struct source connection = {.ready = ready, .descriptor = -1};
static uint64_t gone_since;
static uint64_t instance[2];
/// Whether the connection has said HELLO.
static bool is_welcome;
static bool waits_for_room;

/// Answers, oldest first, in a ring.
static struct executor_record answers[ANSWERS_MAX];
static size_t answer_first, answer_count;
/// Entries that LIST has asked for, and the serial of that LIST, or 0.
static uint64_t entries_left, list_serial;

// MARK: - The connection

int brain_choose_instance(void) {
    return getrandom(instance, sizeof instance, 0) == sizeof instance ? 0 : errno;
}

int brain_is_there(uint64_t *since) {
    *since = gone_since;
    return connection.descriptor >= 0;
}

/// Waits for orders as long as their answers have a place, and for room in the socket where there is none.
static void watch(void) {
    loop_change(&connection, (answer_count < ANSWERS_MAX ? EPOLLIN : 0) | (waits_for_room ? EPOLLOUT : 0));
}

static void hang_up(void) {
    const int socket = connection.descriptor;
    if (socket < 0) return;
    loop_forget(&connection);
    close(socket);
    gone_since = loop_now();
    answer_count = 0;
    entries_left = list_serial = 0;
}

int brain_connect(int socket) {
    hang_up();
    is_welcome = waits_for_room = false;
    return loop_watch(&connection, socket, EPOLLIN);
}

/// Returns false where the socket is full or gone.
static bool send_record(const struct executor_record *record, const int *descriptors, size_t count) {
    const int error = executor_send(connection.descriptor, record, descriptors, count);
    if (error == 0) return true;
    // Too many descriptors may be on their way: they are fewer when the daemon has read.
    if (error == EAGAIN || error == ENOBUFS || error == ETOOMANYREFS) {
        waits_for_room = true;
        watch();
    } else {
        hang_up();
    }
    return false;
}

// MARK: - Reports

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

static bool tell_start(const struct command *command) {
    struct executor_record record = record_of(command, EXECUTOR_STARTED, command->main.started_at);
    record.pid = command->main.fork.pid;
    return send_record(&record, command->output, 2);
}

static bool tell_failure(const struct command *command) {
    struct executor_record record = record_of(command, EXECUTOR_NOT_STARTED, command->gone_at);
    record.number = command->main.stage;
    record.code = command->main.error;
    return send_record(&record, NULL, 0);
}

static bool tell_times(const struct command *command, enum executor_kind kind, uint64_t moment) {
    struct executor_record record = record_of(command, kind, moment);
    if (kind == EXECUTOR_HANDLER_FIRED) record.number = command->fired;
    if (kind == EXECUTOR_FROZEN && command->is_frozen) record.flags = EXECUTOR_IS_FROZEN;
    return send_record(&record, NULL, 0);
}

static bool tell_exit(const struct command *command, const struct child *child) {
    const bool is_handler = child != &command->main;
    const bool has_run = child->has_exited;
    struct executor_record record =
        record_of(command, has_run ? EXECUTOR_EXITED : EXECUTOR_NOT_STARTED, child->exited_at);
    if (is_handler) record.flags |= EXECUTOR_OF_HANDLER;
    record.pid = child->fork.pid;
    if (has_run) {
        if (child->exit.was_signalled) record.flags |= EXECUTOR_BY_SIGNAL;
        record.code = child->exit.status;
    } else {
        record.number = child->stage;
        record.code = child->error;
    }
    return send_record(&record, NULL, 0);
}

static bool tell_end(const struct command *command) {
    struct executor_record record = record_of(command, EXECUTOR_GONE, command->gone_at);
    record.cpu_us = command->use.cpu_us;
    record.memory_peak_bytes = command->use.memory_peak_bytes;
    return send_record(&record, NULL, 0);
}

/// All of a command at once, for a daemon that does not know it.
static bool tell_entry(const struct command *command) {
    struct executor_record record = command_entry(command);
    int descriptors[EXECUTOR_DESCRIPTORS_MAX];
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        if (command->output[i] >= 0) descriptors[count++] = command->output[i];
    }
    if (command->kept >= 0) descriptors[count++] = command->kept;
    return send_record(&record, descriptors, count);
}

static bool tell(const struct command *command, enum report report) {
    switch (report) {
    case REPORT_STARTED: return tell_start(command);
    case REPORT_NOT_STARTED: return tell_failure(command);
    case REPORT_HANDLER: return tell_times(command, EXECUTOR_HANDLER_FIRED, command->fired_at);
    case REPORT_LIMIT: return tell_times(command, EXECUTOR_LIMIT_FIRED, command->limit_fired_at);
    case REPORT_FROZEN: return tell_times(command, EXECUTOR_FROZEN, loop_now());
    case REPORT_EXITED: return tell_exit(command, &command->main);
    case REPORT_HANDLER_EXITED: return tell_exit(command, &command->handler_over);
    case REPORT_GONE: return tell_end(command);
    case REPORT_ENTRY:
        // It has all that was to be told.
        return tell_entry(command);
    }
    return true;
}

/// Returns false where the socket takes no more.
static bool tell_command(struct command *command) {
    // An entry says all that the others would say.
    if ((command->untold & REPORT_ENTRY) != 0) command->untold = REPORT_ENTRY;
    for (unsigned bit = 1; command->untold != 0; bit <<= 1) {
        if ((command->untold & bit) == 0) continue;
        if (!tell(command, (enum report)bit)) return false;
        command->untold &= ~bit;
        if (bit == REPORT_ENTRY && entries_left > 0) entries_left--;
    }
    return true;
}

static bool tell_answers(void) {
    while (answer_count > 0) {
        if (!send_record(&answers[answer_first], NULL, 0)) return false;
        answer_first = (answer_first + 1) % ANSWERS_MAX;
        answer_count--;
    }
    return true;
}

static void answer(struct executor_record record) {
    record.magic = EXECUTOR_MAGIC;
    record.version = EXECUTOR_VERSION;
    answers[(answer_first + answer_count++) % ANSWERS_MAX] = record;
}

void brain_tell(void) {
    // Who has said no HELLO is answered, and told nothing else.
    if (connection.descriptor < 0 || waits_for_room || !tell_answers() || !is_welcome) return;
    for (struct command *command; (command = command_take_untold()) != NULL;) {
        if (tell_command(command)) continue;
        // It comes after the others then; what is told of one stays in order.
        command_tell(command, 0);
        return;
    }
    if (list_serial == 0 || entries_left > 0) return;
    answer((struct executor_record){
        .kind = EXECUTOR_LISTED,
        .serial = list_serial,
        .number = (uint32_t)command_count(),
    });
    list_serial = 0;
    tell_answers();
}

// MARK: - Orders

static void list_one(struct command *command) {
    entries_left++;
    command_tell(command, REPORT_ENTRY);
}

static void close_all(const int *descriptors, size_t count) {
    for (size_t i = 0; i < count; i++) close(descriptors[i]);
}

static int forget(struct command *command, uint32_t attempt) {
    if (command->attempt != attempt) return ESTALE;
    const bool is_listed = (command->untold & REPORT_ENTRY) != 0;
    const int error = command_forget(command);
    // A list does not wait for what is not there any more.
    if (error == 0 && is_listed && entries_left > 0) entries_left--;
    return error;
}

/// Obeys an order that was checked. Returns 0 or an errno; `number` goes into the answer.
static int obey(const struct executor_record *order, const int *descriptors, uint32_t *number) {
    if (order->kind == EXECUTOR_START) return command_start(order, descriptors, loop_now());
    if (order->kind == EXECUTOR_DRAIN) {
        command_drain_all();
        return 0;
    }
    struct command *command = command_find(order->command);
    if (command == NULL) return ENOENT;
    switch ((enum executor_kind)order->kind) {
    case EXECUTOR_SET_DEADLINES: return command_set_deadlines(command, order);
    case EXECUTOR_SIGNAL: return command_signal(command, (int)order->number, number);
    case EXECUTOR_KILL: return command_kill(command);
    case EXECUTOR_FREEZE: return command_freeze(command, true);
    case EXECUTOR_THAW: return command_freeze(command, false);
    case EXECUTOR_FORGET: return forget(command, order->attempt);
    default: return ENOSYS;
    }
}

static void welcome(uint64_t serial) {
    is_welcome = true;
    answer((struct executor_record){
        .kind = EXECUTOR_WELCOME,
        .serial = serial,
        .number = (uint32_t)command_count(),
        .instance = {instance[0], instance[1]},
    });
}

/// `is_whole`: whether its descriptors are there, if it came with any. Returns false where no more can be said to this
/// peer.
static bool take(const struct executor_message *message, bool is_whole) {
    struct executor_record order;
    int fault = executor_check_order(message->bytes, message->length, message->count, &order);
    if (fault == 0 && !is_whole) fault = EBADF;
    const bool is_known = fault == 0 && (is_welcome || order.kind == EXECUTOR_HELLO);
    if (fault != 0 || !is_known) close_all(message->descriptors, message->count);
    // What has no serial cannot be answered, and who speaks another language cannot be spoken to.
    if (fault == EBADMSG || fault == EPROTONOSUPPORT || (fault != 0 && order.serial == 0)) return false;
    if (fault == 0 && order.kind == EXECUTOR_HELLO) {
        welcome(order.serial);
        return true;
    }
    if (is_known && order.kind == EXECUTOR_LIST) {
        list_serial = order.serial;
        entries_left = 0;
        command_each(list_one);
        return true;
    }
    uint32_t number = 0;
    const int code = fault != 0 ? fault : !is_known ? EPROTO : obey(&order, message->descriptors, &number);
    answer((struct executor_record){
        .kind = EXECUTOR_DONE,
        .serial = order.serial,
        .command = order.command,
        .number = number,
        .code = code,
    });
    return true;
}

static void read_orders(void) {
    const uint64_t end = loop_now() + TURN_NS;
    for (int i = 0; i < ORDERS_PER_TURN && answer_count < ANSWERS_MAX && loop_now() < end; i++) {
        struct executor_message message;
        const int error = executor_receive(connection.descriptor, &message);
        if (error == EAGAIN) return;
        // EMFILE: the record is there without its descriptors, and is answered by EBADF.
        if ((error != 0 && error != EMFILE) || !take(&message, error == 0)) return hang_up();
    }
    if (waits_for_room) watch();
}

static void ready(struct source *source, uint32_t events) {
    (void)source;
    if ((events & EPOLLOUT) != 0) {
        waits_for_room = false;
        loop_change(&connection, EPOLLIN);
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_orders();
}
