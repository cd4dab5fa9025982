#include "clinux_launch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "clinux_thread.h"

enum { THREAD_STACK_BYTES = 128 * 1024 };

struct clx_launch {
    struct clx_spawn_request request;
    struct clx_spawn_result result;
    int completion;
    atomic_bool is_done;
};

static void *run(void *argument) {
    struct clx_launch *launch = argument;
    // The launch may be freed as soon as it is done.
    const int completion = launch->completion;
    clx_spawn(&launch->request, &launch->result);
    atomic_store_explicit(&launch->is_done, true, memory_order_release);
    const uint64_t one = 1;
    while (write(completion, &one, sizeof one) < 0 && errno == EINTR) {}
    return NULL;
}

struct clx_launch *clx_launch_begin(const struct clx_spawn_request *request, int completion) {
    struct clx_launch *launch = malloc(sizeof *launch);
    if (launch == NULL) return NULL;
    launch->request = *request;
    launch->completion = completion;
    atomic_init(&launch->is_done, false);
    int error = clx_thread_start(THREAD_STACK_BYTES, run, launch);
    if (error == 0) return launch;
    free(launch);
    errno = error;
    return NULL;
}

bool clx_launch_finish(struct clx_launch *launch, struct clx_spawn_result *result) {
    if (!atomic_load_explicit(&launch->is_done, memory_order_acquire)) return false;
    *result = launch->result;
    free(launch);
    return true;
}
