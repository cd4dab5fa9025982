#include "clinux_waits.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Older libraries have no name for it (timer_create(2)).
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { TICK_NS = 20000000 };

static _Thread_local timer_t timer;
static _Thread_local volatile sig_atomic_t is_bounded, is_busy, is_ticking;

static void tick_every(long nanoseconds) {
    const struct itimerspec times = {.it_interval.tv_nsec = nanoseconds, .it_value.tv_nsec = nanoseconds};
    timer_settime(timer, 0, &times, NULL);
}

/// That it comes is enough: who waits goes on. It ends the ticking when nobody is busy, so that an idle program sleeps.
static void take_tick(int number) {
    (void)number;
    const int error = errno;
    if (is_ticking && !is_busy) {
        is_ticking = 0;
        tick_every(0);
    }
    errno = error;
}

int clx_bound_waits(void) {
    const struct sigaction action = {.sa_handler = take_tick, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (sigaction(SIGURG, &action, NULL) < 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) < 0) return errno;
    is_bounded = 1;
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    return pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
}

void clx_waits_begin(void) {
    if (!is_bounded) return;
    is_busy = 1;
    if (is_ticking) return;
    is_ticking = 1;
    tick_every(TICK_NS);
}

void clx_waits_end(void) {
    is_busy = 0;
}
