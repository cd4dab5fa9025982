/// Gives the daemon tasks, and tells what their begins, ends and expirations take.
///
///     task-driver SOCKET hold                             orders from standard input, one a line:
///         begin COUNT DURATION_MS | end | pairs COUNT | pipelined-pairs COUNT
///     task-driver SOCKET expire COUNT START_MS SPREAD_MS
///     task-driver SOCKET begins COUNT INTERVAL_US
///     task-driver SOCKET submit COUNT CLIENTS
///     task-driver SOCKET timer COUNT INTERVAL_US          without the daemon
///
/// Each order is answered by a JSON object on a line of its own; times are in microseconds
/// where no other unit is named.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "begins.h"
#include "connection.h"
#include "expiry.h"
#include "pairs.h"
#include "submissions.h"
#include "times.h"

/// Begins and ends tasks, a thousand at a time.
static void pipelined_pairs(struct connection *connection, size_t count) {
    int64_t ids[1000];
    for (size_t left = count; left > 0;) {
        size_t batch = left < 1000 ? left : 1000;
        begin_many(connection, ids, batch, 180000);
        end_many(connection, ids, batch);
        left -= batch;
    }
}

/// The tasks that it holds.
struct holding {
    int64_t *ids;
    size_t count;
};

static void begin_more(struct connection *connection, struct holding *held, size_t count,
                       int64_t duration_ms) {
    int64_t *ids = realloc(held->ids, (held->count + count) * sizeof *ids);
    if (ids == NULL) fail("realloc", strerror(errno));
    held->ids = ids;
    begin_many(connection, ids + held->count, count, duration_ms);
    held->count += count;
}

static void carry_out(struct connection *connection, struct holding *held, const char *order) {
    long long count = 0, duration_ms = 0;
    int64_t start = now();
    printf("{");
    if (sscanf(order, "begin %lld %lld", &count, &duration_ms) == 2) {
        begin_more(connection, held, (size_t)count, duration_ms);
    } else if (strcmp(order, "end\n") == 0) {
        end_many(connection, held->ids, held->count);
        held->count = 0;
    } else if (sscanf(order, "pipelined-pairs %lld", &count) == 1) {
        pipelined_pairs(connection, (size_t)count);
    } else if (sscanf(order, "pairs %lld", &count) == 1) {
        time_pairs(connection, (size_t)count);
        printf(", ");
    } else {
        fail("an unknown order", order);
    }
    printf("\"seconds\": %.6f}\n", (double)(now() - start) / 1e9);
    fflush(stdout);
}

static void hold(const char *path) {
    struct connection *connection = connect_to(path);
    struct holding held = {0};
    char order[256];
    while (fgets(order, sizeof order, stdin) != NULL) carry_out(connection, &held, order);
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[2], "hold") == 0) {
        hold(arguments[1]);
    } else if (count == 6 && strcmp(arguments[2], "expire") == 0) {
        time_expirations(arguments[1], (size_t)atoll(arguments[3]), atoll(arguments[4]) * 1000000,
                         atoll(arguments[5]) * 1000000);
    } else if (count == 5 && strcmp(arguments[2], "begins") == 0) {
        time_begins(arguments[1], (size_t)atoll(arguments[3]), atoll(arguments[4]) * 1000);
    } else if (count == 5 && strcmp(arguments[2], "submit") == 0) {
        time_submissions(arguments[1], (size_t)atoll(arguments[3]), (size_t)atoll(arguments[4]));
    } else if (count == 5 && strcmp(arguments[2], "timer") == 0) {
        time_timer((size_t)atoll(arguments[3]), atoll(arguments[4]) * 1000);
    } else {
        fail("usage", "task-driver SOCKET hold | expire COUNT START_MS SPREAD_MS | "
                      "begins COUNT INTERVAL_US | submit COUNT CLIENTS | timer COUNT INTERVAL_US");
    }
    return 0;
}
