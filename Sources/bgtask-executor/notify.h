// What the service manager is told (sd_notify(3)); nothing where there is none.
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/// Takes what the environment says of the service manager out of it.
void notify_begin(void);

/// The service works.
void notify_ready(void);

/// Another process is the service from now on.
void notify_successor(int process);

/// The service is to end, and what runs may take until then, on CLOCK_MONOTONIC; it may be said again.
void notify_stopping(uint64_t until);

/// A command is about to begin. While one lives, this process is not to be ended for standing still: it would take all commands
/// along. So the service manager is told to wait for no sign of life, and to do so again some time after the last has ended.
void notify_begins(void);

/// Tells what is due: that this process lives, and how many commands there are, of which some `live`. Returns the milliseconds
/// until it has to be called again, or -1.
int notify_turn(uint64_t commands, bool live);

#endif
