#include "loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS = 64 };

static int queue = -1;
/// Those of the turn under way; one that is forgotten meanwhile is taken out.
static struct epoll_event events[EVENTS];
static int count;

int loop_open(void) {
    queue = epoll_create1(EPOLL_CLOEXEC);
    return queue < 0 ? errno : 0;
}

int loop_watch(struct source *source, int descriptor, uint32_t wanted) {
    struct epoll_event event = {.events = wanted, .data.ptr = source};
    source->descriptor = descriptor;
    if (epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
    source->descriptor = -1;
    return errno;
}

void loop_change(struct source *source, uint32_t wanted) {
    struct epoll_event event = {.events = wanted, .data.ptr = source};
    if (source->descriptor >= 0) epoll_ctl(queue, EPOLL_CTL_MOD, source->descriptor, &event);
}

void loop_forget(struct source *source) {
    if (source->descriptor < 0) return;
    // Before the close: a copy that somebody else has would keep it in the queue.
    epoll_ctl(queue, EPOLL_CTL_DEL, source->descriptor, NULL);
    source->descriptor = -1;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == source) events[i].data.ptr = NULL;
    }
}

void loop_turn(int milliseconds) {
    count = epoll_wait(queue, events, EVENTS, milliseconds);
    // One that was stopped takes what has happened before what is due by now (signal(7)).
    if (count < 0 && errno == EINTR) count = epoll_wait(queue, events, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        struct source *source = events[i].data.ptr;
        if (source != NULL) source->ready(source, events[i].events);
    }
    count = 0;
}

uint64_t loop_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
