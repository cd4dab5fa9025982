#ifndef TASK_DRIVER_PAIRS_H
#define TASK_DRIVER_PAIRS_H

#include "connection.h"

/// Begins tasks, many calls under way at once.
void begin_many(struct connection *connection, int64_t *ids, size_t count, int64_t duration_ms);

/// Ends tasks in the same way.
void end_many(struct connection *connection, const int64_t *ids, size_t count);

/// Begins and ends tasks, one call after the other. Prints the time that a pair takes.
void time_pairs(struct connection *connection, size_t count);

#endif
