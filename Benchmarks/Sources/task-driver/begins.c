#include "begins.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connection.h"

struct schedule {
    struct connection *connection;
    int64_t start, interval;
    size_t count;
};

static int64_t instant(const struct schedule *schedule, size_t index) {
    return schedule->start + (int64_t)index * schedule->interval;
}

static void *send_begins(void *context) {
    const struct schedule *schedule = context;
    char call[CALL_BYTES_MAX];
    size_t length = append_begin(call, 180000, 5000);
    int timer = make_timer();
    for (size_t i = 0; i < schedule->count; i++) {
        wait_until(timer, instant(schedule, i));
        send_calls(schedule->connection, call, length);
    }
    close(timer);
    return NULL;
}

void time_begins(const char *path, size_t count, int64_t interval) {
    int64_t *times = calloc(count, sizeof *times);
    if (times == NULL) fail("calloc", strerror(errno));
    struct schedule schedule = {connect_to(path), now(), interval, count};
    pthread_t sender;
    int error = pthread_create(&sender, NULL, send_begins, &schedule);
    if (error != 0) fail("pthread_create", strerror(error));
    for (size_t i = 0; i < count; i++) {
        take_reply(schedule.connection);
        times[i] = now() - instant(&schedule, i);
    }
    pthread_join(sender, NULL);
    printf("{\"start_ns\": %lld, \"took_ns\": [", (long long)schedule.start);
    for (size_t i = 0; i < count; i++) printf("%s%lld", i == 0 ? "" : ", ", (long long)times[i]);
    printf("]}\n");
    free(times);
}
