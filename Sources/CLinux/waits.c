#include "clinux_waits.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Older libraries have no name for it (timer_create(2)).
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { TICK_NS = 2000000 };

static _Thread_local unsigned depth;
static _Thread_local bool has_timer;
static _Thread_local timer_t timer;

/// That it comes is enough.
static void take_tick(int number) {
    (void)number;
}

static bool make_timer(void) {
    const struct sigaction action = {.sa_handler = take_tick, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    return sigaction(SIGURG, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

static void tick_every(long nanoseconds) {
    const struct itimerspec times = {.it_interval.tv_nsec = nanoseconds, .it_value.tv_nsec = nanoseconds};
    timer_settime(timer, 0, &times, NULL);
}

/// `how` is SIG_BLOCK or SIG_UNBLOCK.
static void mask(int how) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(how, &urgent, NULL);
}

void clx_waits_begin(void) {
    if (depth++ > 0) return;
    const int error = errno;
    if (!has_timer) has_timer = make_timer();
    if (has_timer) {
        tick_every(TICK_NS);
        mask(SIG_UNBLOCK);
    }
    errno = error;
}

void clx_waits_end(void) {
    if (--depth > 0 || !has_timer) return;
    const int error = errno;
    // In this order: one that is on its way comes at the next begin, and nowhere else.
    mask(SIG_BLOCK);
    tick_every(0);
    errno = error;
}
