// The daemon at the other end of the socket: takes its orders, and tells it what happens.
#ifndef BRAIN_H
#define BRAIN_H

#include <stdbool.h>
#include <stdint.h>

/// Chooses what names this executor among all. Commands go on without a daemon for so many nanoseconds, unless it says
/// otherwise. Returns 0 or an errno.
int brain_begin(uint64_t patience);

/// There is one connection, and no other comes.
void brain_expect_no_other(void);

/// Whether a new connection can be taken now: none while an earlier one that was replaced is read to its end.
bool brain_takes_connections(void);

/// Speaks to the daemon on a connected socket from now on. Where there is another connection, the new one has to say HELLO
/// and own the commands first; what came over the earlier one is obeyed, and that is closed. Returns 0 or an errno.
int brain_connect(int socket);

/// How long commands still go on without a daemon, in nanoseconds; UINT64_MAX while there is one.
uint64_t brain_patience_left(void);

/// Whether a daemon is connected.
bool brain_is_there(void);

/// Whether the one connection that there was is over.
bool brain_is_gone(void);

/// Whether the daemon has said that the executor is to end without commands; and whether it is to begin anew then.
bool brain_wants_end(void);
bool brain_wants_another(void);

/// No command is started any more.
void brain_start_no_more(void);

/// Tells what is untold, as much as the socket takes. Returns the milliseconds until there is more of that, or -1.
int brain_tell(void);

/// Whose the commands are: what the daemon has said at HELLO, zero where none has.
const uint64_t *brain_owner(void);

/// Takes back whose the commands of an earlier executor were.
void brain_restore_owner(const uint64_t owner[2]);

#endif
