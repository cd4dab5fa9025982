#include "executor_record.h"
#include "executor_version.h"

#include <errno.h>
#include <string.h>

const char executor_program_version[] = EXECUTOR_PROGRAM_VERSION;

/// The fields that an order may fill, besides the first four.
enum field {
    FIELD_COMMAND = 1 << 0,
    FIELD_ATTEMPT = 1 << 1,
    FIELD_SIGNAL = 1 << 2,
    FIELD_FIRED = 1 << 3,
    FIELD_TIMES = 1 << 4,
    FIELD_GRACE = 1 << 5,
    FIELD_NOTES = 1 << 6,
    FIELD_OWNER = 1 << 7,
    /// A signal or none.
    FIELD_SIGNAL_IF_ANY = 1 << 8,
};

/// One line an order: what it has, and may have.
struct rule {
    int fields;
    uint32_t flags;
    /// Besides those that flags announce.
    size_t descriptors;
};

static const struct rule rules[] = {
    [EXECUTOR_HELLO] = {FIELD_OWNER | FIELD_GRACE, 0, 0},
    [EXECUTOR_START] = {FIELD_COMMAND | FIELD_ATTEMPT | FIELD_SIGNAL_IF_ANY | FIELD_TIMES | FIELD_GRACE | FIELD_NOTES,
                        EXECUTOR_WITH_INPUT | EXECUTOR_WITH_KEPT, 1},
    [EXECUTOR_SET_DEADLINES] = {FIELD_COMMAND | FIELD_FIRED | FIELD_TIMES | FIELD_NOTES, EXECUTOR_HANDLER_AGAIN, 0},
    [EXECUTOR_SIGNAL] = {FIELD_COMMAND | FIELD_SIGNAL, 0, 0},
    [EXECUTOR_KILL] = {FIELD_COMMAND, 0, 0},
    [EXECUTOR_FREEZE] = {FIELD_COMMAND, 0, 0},
    [EXECUTOR_THAW] = {FIELD_COMMAND, 0, 0},
    [EXECUTOR_LIST] = {0, 0, 0},
    [EXECUTOR_FORGET] = {FIELD_COMMAND | FIELD_ATTEMPT, 0, 0},
    [EXECUTOR_DRAIN] = {0, 0, 0},
    [EXECUTOR_EXIT] = {0, EXECUTOR_AGAIN, 0},
};

enum { RULES = sizeof rules / sizeof rules[0] };

static bool has_only(const struct executor_record *order, int fields) {
    if ((order->command != 0) != ((fields & FIELD_COMMAND) != 0)) return false;
    if ((order->attempt != 0) != ((fields & FIELD_ATTEMPT) != 0)) return false;
    const int has_number = FIELD_SIGNAL | FIELD_SIGNAL_IF_ANY | FIELD_FIRED;
    if (order->number != 0 && (fields & has_number) == 0) return false;
    if ((fields & (FIELD_SIGNAL | FIELD_SIGNAL_IF_ANY)) != 0 && order->number > EXECUTOR_SIGNAL_MAX) return false;
    if ((fields & FIELD_SIGNAL) != 0 && order->number == 0) return false;
    if ((order->handler_at != 0 || order->limit_at != 0) && (fields & FIELD_TIMES) == 0) return false;
    if (order->grace != 0 && (fields & FIELD_GRACE) == 0) return false;
    const bool has_owner = order->instance[0] != 0 || order->instance[1] != 0;
    if (has_owner != ((fields & FIELD_OWNER) != 0)) return false;
    for (size_t i = 0; (fields & FIELD_NOTES) == 0 && i < EXECUTOR_NOTES; i++) {
        if (order->notes[i] != 0) return false;
    }
    return order->pid == 0 && order->code == 0 && order->zero == 0 && order->moment == 0 && order->cpu_us == 0
           && order->memory_peak_bytes == 0 && order->place == 0 && order->supervisor == 0
           && order->reserved == 0;
}

/// A handler has to be due before the limit, and both on a clock that starts at 0 with the machine.
static bool has_times(const struct executor_record *order) {
    if (order->handler_at > INT64_MAX || order->limit_at > INT64_MAX || order->grace > INT64_MAX) return false;
    return order->limit_at == 0 || order->handler_at <= order->limit_at;
}

int executor_check_order(const void *bytes, size_t length, size_t descriptors, struct executor_record *order) {
    if (length != sizeof *order) return EBADMSG;
    memcpy(order, bytes, sizeof *order);
    if (order->magic != EXECUTOR_MAGIC) return EBADMSG;
    if (order->version != EXECUTOR_VERSION) return EPROTONOSUPPORT;
    if (order->kind == 0 || order->kind >= RULES) return ENOSYS;
    const struct rule *rule = &rules[order->kind];
    if (order->serial == 0 || (order->flags & ~rule->flags) != 0) return EINVAL;
    if (!has_only(order, rule->fields) || !has_times(order)) return EINVAL;
    const size_t announced = rule->descriptors + ((order->flags & EXECUTOR_WITH_INPUT) != 0 ? 1 : 0)
                             + ((order->flags & EXECUTOR_WITH_KEPT) != 0 ? 1 : 0);
    return descriptors == announced ? 0 : EBADF;
}
