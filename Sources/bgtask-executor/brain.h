// The daemon at the other end of the socket: takes its orders, and tells it what happens.
#ifndef BRAIN_H
#define BRAIN_H

#include <stdint.h>

/// Speaks to the daemon on a connected socket from now on; an earlier connection is closed.
///
/// Returns 0 or an errno.
int brain_connect(int socket);

/// Whether somebody is connected; if not, since when, in nanoseconds on CLOCK_MONOTONIC.
int brain_is_there(uint64_t *gone_since);

/// Tells what is untold, as much as the socket takes.
void brain_tell(void);

/// Chooses what names this executor among all. Returns 0 or an errno.
int brain_choose_instance(void);

#endif
