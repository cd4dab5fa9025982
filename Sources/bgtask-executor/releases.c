#include "releases.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CLinux.h"
#include "children.h"
#include "loop.h"
#include "reaping.h"

enum {
    /// Threads that come back; beside them there is one for each child that holds one up, up to the maximum.
    QUICK_THREADS = 2,
    THREADS_MAX = 512,
    STACK_BYTES = 32 << 10,
    /// After so long a child holds its thread up.
    HELD_UP_NS = 20000000,
    TURN_MS = 20,
    /// How long it is waited for those that are about to be taken out of the list.
    SETTLING_MS = 1,
};

struct release {
    pid_t child;
    /// Under the lock: when a thread has taken it.
    uint64_t taken_at;
    struct release *next_in_chain, *next;
};

/// All of them, by number, the latest first.
static struct release *chains[1 << 8];
/// How many there are, and those of this turn.
static int count;
static struct release *added, **added_end = &added;
static int added_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
/// Under the lock: those that no thread has taken, in their order; those that one has; and those that are reaped.
static struct release *waiting, **waiting_end = &waiting, *taken, *reaped;
/// Under the lock; those that start are not ready to take any.
static int waiting_count, idle_count, starting_count, thread_count;

static struct source done;

// MARK: - In a thread

static struct release *take(void) {
    while (waiting == NULL) pthread_cond_wait(&given, &lock);
    struct release *release = waiting;
    waiting = release->next;
    if (waiting == NULL) waiting_end = &waiting;
    waiting_count--;
    idle_count--;
    release->taken_at = loop_now();
    release->next = taken;
    taken = release;
    return release;
}

static void give_back(struct release *release) {
    struct release **place = &taken;
    while (*place != release) place = &(*place)->next;
    *place = release->next;
    release->next = reaped;
    reaped = release;
    idle_count++;
    eventfd_write(done.descriptor, 1);
}

/// What this process has open is not held open by a thread that is held up, nor are its locks (fcntl(2)), once the rest of it is
/// killed.
static void part_with_files(void) {
    const unsigned own = (unsigned)done.descriptor;
    if (unshare(CLONE_FILES) < 0) return;
    if (own > 0) close_range(0, own - 1, 0);
    close_range(own + 1, ~0U, 0);
}

static void *reap(void *nothing) {
    struct clx_exit end;
    part_with_files();
    pthread_mutex_lock(&lock);
    starting_count--;
    idle_count++;
    for (;;) {
        struct release *release = take();
        pthread_mutex_unlock(&lock);
        clx_reap(release->child, &end);
        pthread_mutex_lock(&lock);
        give_back(release);
    }
    return nothing;
}

// MARK: - In the loop

static struct release **chain_of(pid_t child) {
    return &chains[(uint32_t)child % (sizeof chains / sizeof chains[0])];
}

static void forget(struct release *release) {
    struct release **place = chain_of(release->child);
    while (*place != release) place = &(*place)->next_in_chain;
    *place = release->next_in_chain;
    free(release);
    count--;
}

static void forget_reaped(struct source *source, uint32_t events) {
    eventfd_t value;
    (void)events;
    eventfd_read(source->descriptor, &value);
    pthread_mutex_lock(&lock);
    struct release *release = reaped, *next;
    reaped = NULL;
    pthread_mutex_unlock(&lock);
    for (; release != NULL; release = next) {
        next = release->next;
        forget(release);
    }
    // Who has such a number by now, and has ended, was passed over.
    reaping_note();
}

/// Under the lock.
static int count_held_up(void) {
    const uint64_t now = loop_now();
    int number = 0;
    for (const struct release *release = taken; release != NULL; release = release->next) {
        if (now - release->taken_at > HELD_UP_NS) number++;
    }
    return number;
}

/// Under the lock: sees to it that there is a thread for those that wait. Returns 0 or an errno.
static int have_thread(void) {
    if (thread_count == THREADS_MAX || thread_count - starting_count - count_held_up() >= QUICK_THREADS) return 0;
    const int error = clx_thread_start(STACK_BYTES, reap, NULL);
    if (error != 0) return error;
    thread_count++;
    starting_count++;
    return 0;
}

int releases_begin(void) {
    const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) return errno;
    done.ready = forget_reaped;
    const int error = loop_watch(&done, descriptor, EPOLLIN);
    // From here on there is one.
    return error != 0 ? error : have_thread();
}

void releases_add(pid_t child) {
    struct clx_exit end;
    // One that is not reaped at once hides others from who has no list of them.
    struct release *release = children_are_listed() ? calloc(1, sizeof *release) : NULL, **chain = chain_of(child);
    if (release == NULL) {
        clx_reap(child, &end);
        return;
    }
    release->child = child;
    release->next_in_chain = *chain;
    *chain = release;
    *added_end = release;
    added_end = &release->next;
    added_count++;
    count++;
}

bool releases_are_held_up(void) {
    pthread_mutex_lock(&lock);
    const bool are_held_up = taken != NULL || starting_count > 0;
    pthread_mutex_unlock(&lock);
    return are_held_up;
}

bool releases_have(pid_t child) {
    const struct release *release = *chain_of(child);
    while (release != NULL && release->child != child) release = release->next_in_chain;
    return release != NULL;
}

/// Whether a child can be reaped still. What takes long comes after that.
static bool is_listed(pid_t child) {
    siginfo_t end = {0};
    return waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
}

/// Whether none is about to be reaped.
static bool is_settled(void) {
    pthread_mutex_lock(&lock);
    bool is_settled = waiting == NULL;
    for (const struct release *release = taken; is_settled && release != NULL; release = release->next) {
        is_settled = !is_listed(release->child);
    }
    pthread_mutex_unlock(&lock);
    return is_settled;
}

bool releases_settle(void) {
    const uint64_t begin = loop_now();
    struct pollfd reaping = {.fd = done.descriptor, .events = POLLIN};
    while (count > 0 && !is_settled()) {
        if (loop_now() - begin > SETTLING_MS * 1000000) return false;
        if (poll(&reaping, 1, SETTLING_MS) > 0) forget_reaped(&done, 0);
    }
    return true;
}

/// Under the lock.
static void hand_over(void) {
    if (added == NULL) return;
    *waiting_end = added;
    waiting_end = added_end;
    waiting_count += added_count;
    added = NULL;
    added_end = &added;
    added_count = 0;
    pthread_cond_broadcast(&given);
}

int releases_turn(void) {
    if (count == 0) return -1;
    pthread_mutex_lock(&lock);
    hand_over();
    if (waiting_count > idle_count) have_thread();
    const bool are_busy = waiting_count > idle_count;
    pthread_mutex_unlock(&lock);
    return are_busy ? TURN_MS : -1;
}
