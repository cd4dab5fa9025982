#ifndef TASK_DRIVER_SUBMISSIONS_H
#define TASK_DRIVER_SUBMISSIONS_H

#include <stddef.h>

/// Has `true` run so often, submitted over some connections that each wait for their answers, and
/// prints how long it takes until the daemon has recorded the outcomes of all.
void time_submissions(const char *path, size_t count, size_t clients);

#endif
