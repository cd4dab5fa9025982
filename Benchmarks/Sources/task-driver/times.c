#include "times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"

int64_t now(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) < 0) fail("clock_gettime", strerror(errno));
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int make_timer(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (timer < 0) fail("timerfd_create", strerror(errno));
    return timer;
}

void wait_until(int timer, int64_t instant) {
    struct itimerspec setting = {
        .it_value = {.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL) < 0)
        fail("timerfd_settime", strerror(errno));
    uint64_t expirations;
    while (read(timer, &expirations, sizeof expirations) < 0) {
        if (errno != EINTR) fail("read", strerror(errno));
    }
}

static int compare(const void *one, const void *other) {
    int64_t left = *(const int64_t *)one, right = *(const int64_t *)other;
    return left < right ? -1 : left > right;
}

static double microseconds(const int64_t *times, size_t count, double share) {
    return (double)times[(size_t)((double)(count - 1) * share)] / 1000;
}

void print_times(const char *name, int64_t *times, size_t count) {
    printf("\"%s\": {\"count\": %zu", name, count);
    if (count > 0) {
        qsort(times, count, sizeof *times, compare);
        printf(", \"min\": %.1f, \"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f, \"max\": %.1f",
               microseconds(times, count, 0), microseconds(times, count, 0.5),
               microseconds(times, count, 0.99), microseconds(times, count, 0.999),
               microseconds(times, count, 1));
    }
    printf("}");
}

void time_timer(size_t count, int64_t interval) {
    int64_t *times = calloc(count, sizeof *times), start = now();
    if (times == NULL) fail("calloc", strerror(errno));
    int timer = make_timer();
    for (size_t i = 0; i < count; i++) {
        int64_t instant = start + (int64_t)(i + 1) * interval;
        wait_until(timer, instant);
        times[i] = now() - instant;
    }
    printf("{");
    print_times("late", times, count);
    printf("}\n");
    close(timer);
    free(times);
}
