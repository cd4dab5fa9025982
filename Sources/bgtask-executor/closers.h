// Descriptors that are kept for the daemon, sockets that users fill, are closed by processes of their own (clinux_closer.h).
#ifndef CLOSERS_H
#define CLOSERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// Forks the process that the others are forked from. Returns 0 or an errno.
int closers_begin(void);

/// The child of this process that is not a command's, or 0. All closers descend from it.
pid_t closers_maker(void);

/// Makes one for somebody else. Returns a socket to it, or -1.
int closers_make(void);

/// Lets go of what was kept for a command of this user; -1: nothing. `is_shared`: whether a daemon has the socket as well, and
/// may go on with it.
void closers_let_go(int kept, uint32_t user, bool is_shared);

#endif
