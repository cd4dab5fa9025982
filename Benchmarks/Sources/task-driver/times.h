#ifndef TASK_DRIVER_TIMES_H
#define TASK_DRIVER_TIMES_H

#include <stddef.h>
#include <stdint.h>

/// Nanoseconds of CLOCK_MONOTONIC.
int64_t now(void);

/// A descriptor that becomes readable at an instant (timerfd_create(2)).
int make_timer(void);

/// Waits with a timer until an instant.
void wait_until(int timer, int64_t instant);

/// Prints a field of a JSON object: percentiles of nanoseconds, in microseconds. Sorts them.
void print_times(const char *name, int64_t *times, size_t count);

/// Waits for a timer at each interval, and prints how late it is: so late is any timer here now.
void time_timer(size_t count, int64_t interval);

#endif
