#include "pairs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "times.h"

/// Calls that are under way at once.
enum { WINDOW = 256 };

static const int64_t grace_ms = 5000, usual_ms = 180000;

static int64_t *make_times(size_t count) {
    int64_t *times = calloc(count, sizeof *times);
    if (times == NULL) fail("calloc", strerror(errno));
    return times;
}

void begin_many(struct connection *connection, int64_t *ids, size_t count, int64_t duration_ms) {
    char calls[WINDOW * CALL_BYTES_MAX];
    for (size_t done = 0; done < count;) {
        size_t bytes = 0, batch = count - done < WINDOW ? count - done : WINDOW;
        for (size_t i = 0; i < batch; i++)
            bytes += append_begin(calls + bytes, duration_ms, grace_ms);
        send_calls(connection, calls, bytes);
        for (size_t i = 0; i < batch; i++)
            ids[done++] = number_in(take_reply(connection), "\"id\":");
    }
}

void end_many(struct connection *connection, const int64_t *ids, size_t count) {
    char calls[WINDOW * CALL_BYTES_MAX];
    for (size_t done = 0; done < count;) {
        size_t bytes = 0, batch = count - done < WINDOW ? count - done : WINDOW;
        for (size_t i = 0; i < batch; i++) bytes += append_end(calls + bytes, ids[done + i]);
        send_calls(connection, calls, bytes);
        for (size_t i = 0; i < batch; i++) take_reply(connection);
        done += batch;
    }
}

static int64_t begin(struct connection *connection) {
    char call[CALL_BYTES_MAX];
    send_calls(connection, call, append_begin(call, usual_ms, grace_ms));
    return number_in(take_reply(connection), "\"id\":");
}

static void end(struct connection *connection, int64_t id) {
    char call[CALL_BYTES_MAX];
    send_calls(connection, call, append_end(call, id));
    take_reply(connection);
}

void time_pairs(struct connection *connection, size_t count) {
    int64_t *times = make_times(count);
    for (size_t i = 0; i < count; i++) {
        int64_t start = now();
        end(connection, begin(connection));
        times[i] = now() - start;
    }
    print_times("pair", times, count);
    free(times);
}
