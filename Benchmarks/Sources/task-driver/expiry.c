#include "expiry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "connection.h"
#include "times.h"

/// Longer than any measurement: no task comes to its hard limit during it.
static const int64_t grace_ms = 600000;
static const int64_t millisecond = 1000000;

/// Bytes of an event, at most.
enum { EVENT_BYTES_MAX = 640 };

/// A task that was begun: between which instants that was, and how long its handler waits.
struct held {
    int64_t sent, answered, wait;
};

/// What a read of the watch has brought, so that all else is done afterwards.
struct arrival {
    int64_t at;
    size_t end;
};

struct record {
    char *bytes;
    size_t size, end;
    struct arrival *arrivals;
    size_t arrival_count, arrivals_max;
};

/// Memory that is there from the beginning.
static void *reserve(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) fail("mmap", strerror(errno));
    return memory;
}

/// The numbers below a count, in a random order that is the same each time.
static uint32_t *shuffled(size_t count) {
    uint32_t *numbers = reserve(count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = (uint32_t)i;
    srandom(1);
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = (size_t)random() % (i + 1);
        uint32_t number = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = number;
    }
    return numbers;
}

/// Begins all, one call after the other, so that each begin is known to some microseconds.
///
/// @returns the id of the first; the others follow it.
static int64_t begin_all(struct connection *connection, struct held *tasks, size_t count,
                         int64_t first, int64_t spread) {
    uint32_t *order = shuffled(count);
    char call[CALL_BYTES_MAX];
    int64_t id_first = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t due = first + (int64_t)((double)spread * order[i] / (double)count);
        tasks[i].sent = now();
        int64_t wait_ms = (due - tasks[i].sent + millisecond - 1) / millisecond;
        if (wait_ms < 500) fail("begin", "it took too long: let the first be due later");
        send_calls(connection, call, append_begin(call, wait_ms + grace_ms, grace_ms));
        int64_t id = number_in(take_reply(connection), "\"id\":");
        tasks[i].answered = now();
        tasks[i].wait = wait_ms * millisecond;
        if (i == 0) id_first = id;
        if (id != id_first + (int64_t)i) fail("begin", "somebody else begins tasks");
    }
    return id_first;
}

static size_t count_expiring(const char *bytes, size_t count) {
    static const char mark[] = "\"kind\":\"expiring\"";
    size_t found = 0;
    const char *end = bytes + count;
    while ((bytes = memmem(bytes, (size_t)(end - bytes), mark, sizeof mark - 1)) != NULL) {
        found += 1;
        bytes += sizeof mark - 1;
    }
    return found;
}

/// Reads until all events have come; what came is looked into only when nothing comes.
static void take_events(struct connection *watch, struct record *record, size_t count) {
    struct timeval patience = {.tv_usec = 300000};
    setsockopt(watch->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int quiet = 0;
    while (record->end < record->size && record->arrival_count < record->arrivals_max) {
        ssize_t received = recv(watch->socket, record->bytes + record->end,
                                record->size - record->end, 0);
        if (received == 0) fail("watch", "the daemon closed the connection");
        if (received < 0) {
            if (errno != EAGAIN && errno != EINTR) fail("watch", strerror(errno));
            if (count_expiring(record->bytes, record->end) >= count) return;
            quiet = record->end > 0 ? quiet + 1 : 0;
            if (quiet > 30) fail("watch", "events are missing");
            continue;
        }
        quiet = 0;
        record->end += (size_t)received;
        record->arrivals[record->arrival_count++] =
            (struct arrival){.at = now(), .end = record->end};
    }
    fail("watch", "more events than expected");
}

/// Prints what became of the tasks, by the events and when they came.
static void report(const struct record *record, const struct held *tasks, size_t count,
                   int64_t id_first) {
    int64_t *late = reserve(count * sizeof *late), *latest = reserve(count * sizeof *latest);
    int64_t *trips = reserve(count * sizeof *trips), due_first = INT64_MAX, last = 0;
    size_t found = 0, early = 0;
    const struct arrival *arrival = record->arrivals;
    for (const char *event = record->bytes, *all = event + record->end; event < all;) {
        size_t bytes = strlen(event) + 1;
        while (event + bytes > record->bytes + arrival->end) arrival += 1;
        int64_t index = strstr(event, "\"kind\":\"expiring\"") == NULL
            ? -1 : number_in(event, "\"id\":") - id_first;
        event += bytes;
        if (index < 0 || index >= (int64_t)count || found == count) continue;
        const struct held *task = &tasks[index];
        late[found] = arrival->at - (task->answered + task->wait);
        latest[found] = arrival->at - (task->sent + task->wait);
        if (latest[found] < 0) early += 1;
        trips[found++] = task->answered - task->sent;
        if (task->sent + task->wait < due_first) due_first = task->sent + task->wait;
        last = arrival->at;
    }
    printf("{\"fired\": %zu, \"early\": %zu, \"first_due_ns\": %lld, \"last_fired_ns\": %lld, ",
           found, early, (long long)due_first, (long long)last);
    print_times("late", late, found);
    printf(", ");
    print_times("late_at_most", latest, found);
    printf(", ");
    print_times("round_trip", trips, found);
    printf("}\n");
}

void time_expirations(const char *path, size_t count, int64_t start, int64_t spread) {
    struct connection *holder = connect_to(path), *watch = connect_to(path);
    struct held *tasks = reserve(count * sizeof *tasks);
    // Others' begins and ends are in the stream too, where they are of the same user.
    struct record record = {.size = count * EVENT_BYTES_MAX + (64 << 20), .arrivals_max = 16 << 20};
    record.bytes = reserve(record.size);
    record.arrivals = reserve(record.arrivals_max * sizeof *record.arrivals);
    int64_t first = now() + start, id_first = begin_all(holder, tasks, count, first, spread);
    static const char call[] = "{\"method\":\"org.bgtaskd.Tasks.Watch\",\"more\":true}";
    send_calls(watch, call, sizeof call);
    printf("{\"first_due_ns\": %lld}\n", (long long)first);
    fflush(stdout);
    take_events(watch, &record, count);
    report(&record, tasks, count, id_first);
}
