// What the service manager is told (sd_notify(3)); nothing where there is none.
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdint.h>

/// Takes what the environment says of the service manager out of it.
void notify_begin(void);

/// The service works.
void notify_ready(void);

/// The service is to end, and what runs may take until then, on CLOCK_MONOTONIC; it may be said again.
void notify_stopping(uint64_t until);

/// Tells what is due: that this process lives, and how many commands there are. Returns the milliseconds until it has to be
/// called again, or -1.
int notify_turn(uint64_t commands);

#endif
