#ifndef CLINUX_THREAD_H
#define CLINUX_THREAD_H

#include <stddef.h>

/// Starts a detached thread with all signals blocked but SIGPROF: they are the business of the other threads.
/// Returns 0 or an errno.
int clx_thread_start(size_t stack_bytes, void *(*function)(void *), void *argument);

#endif
