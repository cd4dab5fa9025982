#ifndef TASK_DRIVER_EXPIRY_H
#define TASK_DRIVER_EXPIRY_H

#include <stddef.h>
#include <stdint.h>

/// Begins tasks whose handlers are due over some time, in no order, and takes the events of a
/// Watch. Prints how late each came.
///
/// @param start nanoseconds from now until the first are due.
/// @param spread nanoseconds from the first to the last; 0: all within the same millisecond.
void time_expirations(const char *path, size_t count, int64_t start, int64_t spread);

#endif
