#include "brain.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closers.h"
#include "command.h"
#include "ends.h"
#include "executor_transport.h"
#include "executor_version.h"
#include "group.h"
#include "loop.h"
#include "reports.h"
#include "strays.h"
#include "table.h"

enum {
    /// Orders that are taken in one turn, so that what is due waits for no flood.
    ORDERS_PER_TURN = 64,
    /// Nor for orders that take long.
    TURN_NS = 5000000,
    /// How long an answer waits that nobody waits for.
    DULL_NS = 20000000,
    /// Answers that wait for room in the socket. While they are that many, no order is taken.
    ANSWERS_MAX = 128,
};

/// Who is at the other end.
enum peer {
    /// Has said no HELLO: is answered, and told nothing else. To OWNER or REFUSED.
    PEER_STRANGER,
    /// Whose commands they are.
    PEER_OWNER,
    /// The commands are another's: is hung up on when it has its answer.
    PEER_REFUSED,
};

static void ready(struct source *source, uint32_t events);
static void knocked(struct source *source, uint32_t events);

static struct source connection = {.ready = ready, .descriptor = -1};
static enum peer peer;
/// Nothing can be said to it any more: what it has sent is obeyed up to its end.
static bool is_over;
static bool waits_for_room;
/// A connection that has not said HELLO while there is another.
static struct source candidate = {.ready = knocked, .descriptor = -1};
/// One that has, and waits for the end of the one before; or -1.
static int next_socket = -1;

static uint64_t gone_since, usual_patience, patience;
static uint64_t instance[2], owner[2];
/// Whether EXIT was ordered, with AGAIN; and whether this process is to end, whatever a daemon says.
static bool is_exiting, is_again, is_ending;
/// No other connection comes.
static bool is_only_one;

/// Answers, oldest first, in a ring.
static struct executor_record answers[ANSWERS_MAX];
static size_t answer_first, answer_count;
/// When they have to be told: those that nobody waits for go with what comes next.
static uint64_t answer_by;
/// Commands that LIST has asked for and that are not all told, and the serial of that LIST, or 0.
static uint64_t listed_left, list_serial;

// MARK: - The connection

static int choose_instance(void) {
    return getrandom(instance, sizeof instance, 0) == sizeof instance ? 0 : errno;
}

int brain_begin(uint64_t nanoseconds) {
    usual_patience = patience = nanoseconds;
    gone_since = loop_now();
    return choose_instance();
}

uint64_t brain_patience_left(void) {
    if (connection.descriptor >= 0 && peer == PEER_OWNER) return UINT64_MAX;
    const uint64_t end = gone_since + patience, now = loop_now();
    return end > now ? end - now : 0;
}

void brain_expect_no_other(void) {
    is_only_one = true;
}

bool brain_is_gone(void) {
    return is_only_one && connection.descriptor < 0;
}

bool brain_wants_end(void) {
    return is_exiting;
}

bool brain_wants_another(void) {
    return is_exiting && is_again && !is_ending;
}

void brain_start_no_more(void) {
    is_ending = true;
}

const uint64_t *brain_owner(void) {
    return owner;
}

void brain_restore_owner(const uint64_t earlier[2]) {
    owner[0] = earlier[0];
    owner[1] = earlier[1];
}

/// Waits for orders as long as their answers have a place, and for room in the socket where there is none.
static void watch(void) {
    const bool takes_orders = answer_count < ANSWERS_MAX && (peer != PEER_REFUSED || is_over);
    loop_change(&connection, (takes_orders ? EPOLLIN : 0) | (waits_for_room ? EPOLLOUT : 0));
}

static void unlist(struct command *command) {
    command->is_listed = false;
    command->untold &= ~(unsigned)REPORT_ENTRY;
}

/// Nobody reads answers any more.
static void say_no_more(void) {
    waits_for_room = false;
    answer_count = 0;
    if (list_serial != 0) command_each(unlist);
    listed_left = list_serial = 0;
}

static int take_connection(int socket) {
    peer = PEER_STRANGER;
    is_over = waits_for_room = false;
    return loop_watch(&connection, socket, EPOLLIN);
}

/// Returns its socket, or -1 where there is none.
static int take_candidate(void) {
    const int socket = candidate.descriptor;
    loop_forget(&candidate);
    return socket;
}

static void hang_up(void) {
    const int socket = connection.descriptor;
    if (socket < 0) return;
    loop_forget(&connection);
    close(socket);
    if (peer == PEER_OWNER) gone_since = loop_now();
    say_no_more();
    if (next_socket < 0) next_socket = take_candidate();
    if (next_socket >= 0 && take_connection(next_socket) != 0) close(next_socket);
    next_socket = -1;
}

/// The end of a connection: what was sent before is read first, which may take more than one turn.
static void let_go(void) {
    say_no_more();
    is_over = true;
    // Nothing can be sent any more, and so there is an end of what was.
    shutdown(connection.descriptor, SHUT_RDWR);
    watch();
}

bool brain_takes_connections(void) {
    return next_socket < 0;
}

int brain_connect(int socket) {
    if (connection.descriptor < 0) return take_connection(socket);
    const int earlier = take_candidate();
    if (earlier >= 0) close(earlier);
    return loop_watch(&candidate, socket, EPOLLIN);
}

static bool has_live;

static void find_live(struct command *command) {
    if (!command_is_over(command)) has_live = true;
}

/// Whether the owner has not come back in time, and nothing runs any more.
static bool is_given_up(void) {
    if (brain_patience_left() > 0) return false;
    has_live = false;
    command_each(find_live);
    return !has_live;
}

static bool may_own(const uint64_t other[2]) {
    return command_count() == 0 || (owner[0] == other[0] && owner[1] == other[1]) || is_given_up();
}

/// Whether a daemon is connected that is still there.
static bool is_served(void) {
    struct pollfd other_end = {.fd = connection.descriptor, .events = POLLRDHUP};
    return peer == PEER_OWNER && !is_over && poll(&other_end, 1, 0) <= 0;
}

/// Whether a candidate may take the place of the connection that there is.
static bool may_follow(const uint64_t other[2]) {
    const bool is_same = owner[0] == other[0] && owner[1] == other[1];
    return is_same || (!is_served() && (command_count() == 0 || is_given_up()));
}

/// A candidate takes the place of the connection that there is, if the commands are its own.
static void knocked(struct source *source, uint32_t events) {
    (void)events;
    unsigned char bytes[EXECUTOR_RECORD_BYTES + 1];
    struct executor_record order;
    // It is read again by who takes it.
    const ssize_t length = recv(source->descriptor, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET)) return;
    const int socket = take_candidate();
    const bool is_hello =
        length > 0 && executor_check_order(bytes, (size_t)length, 0, &order) == 0 && order.kind == EXECUTOR_HELLO;
    if (is_hello && may_follow(order.instance)) {
        next_socket = socket;
        return let_go();
    }
    if (is_hello) {
        const struct executor_record refusal = {
            .magic = EXECUTOR_MAGIC,
            .version = EXECUTOR_VERSION,
            .kind = EXECUTOR_DONE,
            .serial = order.serial,
            .code = EBUSY,
        };
        executor_send(socket, &refusal, NULL, 0);
    }
    close(socket);
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
        let_go();
    }
    return false;
}

// MARK: - Reports

static bool tell(const struct command *command, enum report report) {
    const struct executor_record record = report_record(command, report);
    int descriptors[EXECUTOR_DESCRIPTORS_MAX];
    size_t count = 0;
    if (report == REPORT_STARTED || report == REPORT_ENTRY) {
        for (int i = 0; i < 2; i++) {
            if (command->output[i] >= 0) descriptors[count++] = command->output[i];
        }
    }
    if (report == REPORT_ENTRY && command->kept >= 0) descriptors[count++] = command->kept;
    return send_record(&record, descriptors, count);
}

static void has_been_listed(struct command *command) {
    if (!command->is_listed) return;
    command->is_listed = false;
    listed_left--;
}

/// Returns false where the socket takes no more.
static bool tell_command(struct command *command) {
    for (unsigned bit = 1; command->untold != 0; bit <<= 1) {
        if ((command->untold & bit) == 0) continue;
        if (!tell(command, (enum report)bit)) return false;
        // An entry is followed by all that is true, whether it was told before or not.
        command->untold &= bit == REPORT_ENTRY ? REPORT_LEFT | REPORT_FROZEN : ~bit;
        if (bit == REPORT_ENTRY) command->untold |= reports_behind_entry(command);
    }
    has_been_listed(command);
    return true;
}

static bool tell_answers(void) {
    while (answer_count > 0) {
        const struct executor_record *next = &answers[answer_first];
        const int folder = groups_folder();
        if (!send_record(next, &folder, next->kind == EXECUTOR_WELCOME && folder >= 0 ? 1 : 0)) return false;
        answer_first = (answer_first + 1) % ANSWERS_MAX;
        answer_count--;
    }
    return true;
}

/// `time`: how long it may wait for something else that is told.
static void answer_within(uint64_t time, struct executor_record record) {
    if (is_over) return;
    const uint64_t by = loop_now() + time;
    if (answer_count == 0 || by < answer_by) answer_by = by;
    record.magic = EXECUTOR_MAGIC;
    record.version = EXECUTOR_VERSION;
    answers[(answer_first + answer_count++) % ANSWERS_MAX] = record;
}

static void answer(struct executor_record record) {
    answer_within(0, record);
}

/// Whether all that there is to tell are answers that nobody waits for yet.
static bool may_wait(uint64_t now) {
    return answer_count > 0 && answer_count < ANSWERS_MAX / 2 && now < answer_by && peer == PEER_OWNER &&
           list_serial == 0 && !reports_are_there() && strays_untold() == NULL;
}

/// Returns false where the socket takes no more.
static bool tell_commands(void) {
    for (struct command *command; (command = reports_take()) != NULL;) {
        if (tell_command(command)) continue;
        reports_put_back(command);
        return false;
    }
    for (const struct executor_record *left; (left = strays_untold()) != NULL; strays_told()) {
        if (!send_record(left, NULL, 0)) return false;
    }
    return true;
}

static void tell_all(void) {
    if (connection.descriptor < 0 || is_over || waits_for_room || !tell_answers()) return;
    if (peer == PEER_REFUSED) hang_up();
    if (connection.descriptor < 0 || peer != PEER_OWNER || !tell_commands()) return;
    if (list_serial == 0 || listed_left > 0) return;
    answer((struct executor_record){
        .kind = EXECUTOR_LISTED,
        .serial = list_serial,
        .number = (uint32_t)command_count(),
    });
    list_serial = 0;
    tell_answers();
}

int brain_tell(void) {
    const uint64_t now = loop_now();
    if (may_wait(now)) return (int)((answer_by - now) / 1000000 + 1);
    tell_all();
    return -1;
}

// MARK: - Orders

static void list_one(struct command *command) {
    listed_left++;
    command->is_listed = true;
    reports_add(command, REPORT_ENTRY);
}

static void list(uint64_t serial) {
    if (is_over) return;
    list_serial = serial;
    listed_left = 0;
    command_each(list_one);
}

static void close_all(const int *descriptors, size_t count) {
    for (size_t i = 0; i < count; i++) close(descriptors[i]);
}

bool brain_is_there(void) {
    return connection.descriptor >= 0 && !is_over;
}

/// `is_shared`: whether a daemon that is there may have what is kept of it.
static int forget(struct command *command, uint32_t attempt, bool is_shared) {
    if (command->attempt != attempt) return ESTALE;
    if (!command_is_over(command)) return EBUSY;
    // A list does not wait for what is not there any more.
    has_been_listed(command);
    const bool was_restored = command->is_restored;
    command_forget(command, is_shared);
    if (was_restored) ends_forget_one();
    return 0;
}

/// Its owner has not come for it.
static void give_up(struct command *command) {
    forget(command, command->attempt, false);
}

static int start(const struct executor_record *order, const int *descriptors) {
    if (!is_exiting && !is_ending) return command_start(order, descriptors, loop_now());
    const bool has_input = (order->flags & EXECUTOR_WITH_INPUT) != 0;
    const bool has_kept = (order->flags & EXECUTOR_WITH_KEPT) != 0;
    close_all(descriptors, (size_t)1 + has_input);
    if (has_kept) closers_let_go(descriptors[1 + has_input], UINT32_MAX, true);
    return ECANCELED;
}

static int leave(bool again) {
    // Who is connected to this very process cannot reach another.
    if (again && is_only_one) return EINVAL;
    is_exiting = true;
    is_again = again;
    return 0;
}

static int freeze(struct command *command, bool is_frozen, uint32_t *answer) {
    const int error = command_freeze(command, is_frozen);
    // It is told once: where a report of it is on its way, that one tells.
    const bool is_reported = command->supervisor.owes_stillness || (command->untold & REPORT_FROZEN) != 0;
    const bool is_so = command->is_frozen == is_frozen && !is_reported;
    *answer = is_so ? EXECUTOR_FREEZE_IS_SO : EXECUTOR_FREEZE_FOLLOWS;
    return error;
}

/// Obeys an order that was checked. Returns 0 or an errno; `number` goes into the answer.
static int obey(const struct executor_record *order, const int *descriptors, uint32_t *number) {
    if (order->kind == EXECUTOR_START) return start(order, descriptors);
    if (order->kind == EXECUTOR_DRAIN) {
        command_drain_all(DRAIN_STOP);
        return 0;
    }
    if (order->kind == EXECUTOR_EXIT) return leave((order->flags & EXECUTOR_AGAIN) != 0);
    struct command *command = command_find(order->command);
    if (command == NULL) return ENOENT;
    switch ((enum executor_kind)order->kind) {
    case EXECUTOR_SET_DEADLINES: return command_set_deadlines(command, order);
    case EXECUTOR_SIGNAL: return command_signal(command, (int)order->number, number);
    case EXECUTOR_KILL: return command_kill(command);
    case EXECUTOR_FREEZE: return freeze(command, true, number);
    case EXECUTOR_THAW: return freeze(command, false, number);
    case EXECUTOR_FORGET: return forget(command, order->attempt, brain_is_there());
    default: return ENOSYS;
    }
}

/// Whose the commands are is settled by the first HELLO, until all are forgotten or given up. Returns 0 or an errno.
static int take_owner(const uint64_t other[2]) {
    if (!may_own(other)) return EBUSY;
    if (owner[0] == other[0] && owner[1] == other[1]) return 0;
    if (command_count() > 0) {
        fprintf(stderr, "bgtask-executor: forgets how %llu commands have ended: their daemon has not asked in time\n",
                (unsigned long long)command_count());
    }
    command_each(give_up);
    // What the one before knew of this executor is of no use to this one.
    const bool is_first = owner[0] == 0 && owner[1] == 0;
    const int error = is_first ? 0 : choose_instance();
    if (error == 0) brain_restore_owner(other);
    return error;
}

static void greet(const struct executor_record *order) {
    const int error = take_owner(order->instance);
    if (error != 0) {
        if (peer == PEER_OWNER) gone_since = loop_now();
        peer = PEER_REFUSED;
        answer((struct executor_record){.kind = EXECUTOR_DONE, .serial = order->serial, .code = error});
        return;
    }
    peer = PEER_OWNER;
    is_exiting = false;
    patience = order->grace != 0 ? order->grace : usual_patience;
    struct executor_record welcome = {
        .kind = EXECUTOR_WELCOME,
        .serial = order->serial,
        .number = (uint32_t)command_count(),
        .pid = getpid(),
        .grace = patience,
        .instance = {instance[0], instance[1]},
    };
    snprintf(welcome.text, sizeof welcome.text, "%s", executor_program_version);
    answer(welcome);
}

/// `is_whole`: whether its descriptors are there, if it came with any. Returns false where no more can be said to this
/// peer.
static bool take(const struct executor_message *message, bool is_whole) {
    struct executor_record order;
    int fault = executor_check_order(message->bytes, message->length, message->count, &order);
    if (fault == 0 && !is_whole) fault = EBADF;
    const bool is_known = fault == 0 && (peer == PEER_OWNER || order.kind == EXECUTOR_HELLO);
    if (fault != 0 || !is_known) close_all(message->descriptors, message->count);
    // What has no serial cannot be answered, and who speaks another language cannot be spoken to.
    if (fault == EBADMSG || fault == EPROTONOSUPPORT || (fault != 0 && order.serial == 0)) return false;
    if (is_known && order.kind == EXECUTOR_HELLO) {
        greet(&order);
        return true;
    }
    if (is_known && order.kind == EXECUTOR_LIST) {
        list(order.serial);
        return true;
    }
    uint32_t number = 0;
    const int code = fault != 0 ? fault : !is_known ? EPROTO : obey(&order, message->descriptors, &number);
    // What follows on a start says as much, and of who is forgotten nobody wants to know.
    const bool is_dull = code == 0 && (order.kind == EXECUTOR_START || order.kind == EXECUTOR_FORGET);
    answer_within(is_dull ? DULL_NS : 0, (struct executor_record){
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
        const int error = peer == PEER_REFUSED ? EPIPE : executor_receive(connection.descriptor, &message);
        if (error == EAGAIN) return;
        // EMFILE: the record is there without its descriptors, and is answered by EBADF.
        if ((error != 0 && error != EMFILE) || !take(&message, error == 0)) return hang_up();
        // It has to be told first why it is hung up on.
        if (peer == PEER_REFUSED && !is_over) return watch();
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
