#include "releases.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "CLinux.h"
#include "children.h"
#include "loop.h"
#include "reaping.h"

enum {
    /// Each has one child at a time; the others wait.
    THREADS_MAX = 16,
    STACK_BYTES = 64 << 10,
    /// A process of this age has not been prepared for more than some milliseconds: a name takes longer to look up than to drop.
    HARMLESS_NS = 20000000,
};

struct release {
    pid_t child;
    bool is_passed_over;
    struct release *next_in_chain, *next;
};

/// All of them, by number.
static struct release *chains[1 << 8];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
/// Under the lock: those that no thread has taken, in their order, and those that are reaped.
static struct release *waiting, **waiting_end = &waiting, *reaped;
/// Under the lock: how many wait, and how many threads have nothing to do.
static int waiting_count, idle_count;

static int thread_count;
static struct source done;

// MARK: - In a thread

static struct release *take(void) {
    while (waiting == NULL) pthread_cond_wait(&given, &lock);
    struct release *release = waiting;
    waiting = release->next;
    if (waiting == NULL) waiting_end = &waiting;
    waiting_count--;
    idle_count--;
    return release;
}

static void *reap(void *nothing) {
    struct clx_exit end;
    pthread_mutex_lock(&lock);
    for (;;) {
        struct release *release = take();
        pthread_mutex_unlock(&lock);
        clx_reap(release->child, &end);
        pthread_mutex_lock(&lock);
        release->next = reaped;
        reaped = release;
        idle_count++;
        eventfd_write(done.descriptor, 1);
    }
    return nothing;
}

// MARK: - In the loop

static struct release **place_of(pid_t child) {
    struct release **place = &chains[(uint32_t)child % (sizeof chains / sizeof chains[0])];
    while (*place != NULL && (*place)->child != child) place = &(*place)->next_in_chain;
    return place;
}

static void forget_reaped(struct source *source, uint32_t events) {
    eventfd_t count;
    (void)events;
    eventfd_read(source->descriptor, &count);
    pthread_mutex_lock(&lock);
    struct release *release = reaped, *next;
    reaped = NULL;
    pthread_mutex_unlock(&lock);
    for (; release != NULL; release = next) {
        next = release->next;
        *place_of(release->child) = release->next_in_chain;
        if (release->is_passed_over) reaping_note();
        free(release);
    }
}

int releases_begin(void) {
    const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) return errno;
    done.ready = forget_reaped;
    return loop_watch(&done, descriptor, EPOLLIN);
}

/// Sees to it that there is a thread for one more, as far as there may be. Returns false where there is none at all.
static bool have_thread(void) {
    pthread_mutex_lock(&lock);
    const bool is_missing = waiting_count >= idle_count && thread_count < THREADS_MAX;
    if (is_missing && clx_thread_start(STACK_BYTES, reap, NULL) == 0) {
        thread_count++;
        idle_count++;
    }
    pthread_mutex_unlock(&lock);
    return thread_count > 0;
}

static bool hand_over(pid_t child) {
    // One that is not reaped at once hides others from who has no list of them.
    struct release *release = children_are_listed() && have_thread() ? calloc(1, sizeof *release) : NULL;
    if (release == NULL) return false;
    release->child = child;
    *place_of(child) = release;
    pthread_mutex_lock(&lock);
    *waiting_end = release;
    waiting_end = &release->next;
    waiting_count++;
    pthread_cond_signal(&given);
    pthread_mutex_unlock(&lock);
    return true;
}

void releases_add(pid_t child, uint64_t age) {
    struct clx_exit end;
    if (age < HARMLESS_NS || !hand_over(child)) clx_reap(child, &end);
}

bool releases_have(pid_t child) {
    return *place_of(child) != NULL;
}

bool releases_pass_over(pid_t child) {
    struct release *release = *place_of(child);
    if (release != NULL) release->is_passed_over = true;
    return release != NULL;
}
