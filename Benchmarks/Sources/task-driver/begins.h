#ifndef TASK_DRIVER_BEGINS_H
#define TASK_DRIVER_BEGINS_H

#include <stddef.h>
#include <stdint.h>

/// Begins a task at each interval, whether those before it have been answered or not. Prints the
/// start and how long each begin took to its answer, in nanoseconds.
void time_begins(const char *path, size_t count, int64_t interval);

#endif
