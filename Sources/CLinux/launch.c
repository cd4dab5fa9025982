#include "clinux_launch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "child_stack.h"
#include "clinux_thread.h"

enum {
    THREAD_STACK_BYTES = 128 * 1024,
    /// Threads that wait for the next start. To make one takes a third of what a start takes.
    IDLE_MAX = 4,
};

struct clx_launch {
    struct clx_spawn_request request;
    struct clx_spawn_result result;
    int completion;
    atomic_bool is_done;
    /// Written by the kernel.
    _Atomic(pid_t) process;
    /// The one that came after it, while it waits for its thread.
    struct clx_launch *next;
};

/// The threads of all starts, and those starts that an idle thread is to take.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t comes;
    struct clx_launch *first, *last;
    /// Threads that wait, less the starts that wait for one of them.
    int idle;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .comes = PTHREAD_COND_INITIALIZER};

static void perform(struct clx_launch *launch, struct clx_child_stack *stack) {
    // The launch may be freed as soon as it is done.
    const int completion = launch->completion;
    clx_spawn_on(stack, &launch->request, &launch->result, (pid_t *)&launch->process);
    atomic_store_explicit(&launch->is_done, true, memory_order_release);
    const uint64_t one = 1;
    while (write(completion, &one, sizeof one) < 0 && errno == EINTR) {}
}

/// Waits for the next start. Returns NULL where enough threads wait for one already.
static struct clx_launch *next_launch(void) {
    struct clx_launch *launch = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.idle < IDLE_MAX) {
        pool.idle++;
        while (pool.first == NULL) pthread_cond_wait(&pool.comes, &pool.lock);
        launch = pool.first;
        pool.first = launch->next;
    }
    pthread_mutex_unlock(&pool.lock);
    return launch;
}

static void *serve(void *first) {
    struct clx_child_stack stack = {0};
    for (struct clx_launch *launch = first; launch != NULL; launch = next_launch()) {
        perform(launch, &stack);
    }
    clx_child_stack_free(&stack);
    return NULL;
}

/// Returns whether an idle thread takes it.
static bool hand_over(struct clx_launch *launch) {
    pthread_mutex_lock(&pool.lock);
    const bool has_thread = pool.idle > 0;
    if (has_thread) {
        pool.idle--;
        if (pool.first == NULL) {
            pool.first = launch;
        } else {
            pool.last->next = launch;
        }
        pool.last = launch;
    }
    pthread_mutex_unlock(&pool.lock);
    if (has_thread) pthread_cond_signal(&pool.comes);
    return has_thread;
}

struct clx_launch *clx_launch_begin(const struct clx_spawn_request *request, int completion) {
    struct clx_launch *launch = malloc(sizeof *launch);
    if (launch == NULL) return NULL;
    launch->request = *request;
    launch->completion = completion;
    launch->next = NULL;
    atomic_init(&launch->is_done, false);
    atomic_init(&launch->process, 0);
    if (hand_over(launch)) return launch;
    int error = clx_thread_start(THREAD_STACK_BYTES, serve, launch);
    if (error == 0) return launch;
    free(launch);
    errno = error;
    return NULL;
}

pid_t clx_launch_process(const struct clx_launch *launch) {
    return atomic_load(&launch->process);
}

bool clx_launch_finish(struct clx_launch *launch, struct clx_spawn_result *result) {
    if (!atomic_load_explicit(&launch->is_done, memory_order_acquire)) return false;
    *result = launch->result;
    free(launch);
    return true;
}
