// Connections of other users, made by a test that runs as root, and messages with descriptors.
#ifndef CTEST_USERS_H
#define CTEST_USERS_H

#include <stddef.h>
#include <sys/types.h>

/// Connects to a Unix socket as another user, on a thread that becomes that user and ends.
///
/// The kernel takes the peer's credentials at connect(2), and checks the rights on the path then.
/// Returns the connected socket, or -1 with errno. `path` must fit into an address.
int test_connect_as(const char *path, uid_t user, gid_t group, const gid_t *groups, size_t count);

/// Sends a datagram to a Unix socket, with so many copies of the writing end of a pipe (SCM_RIGHTS; 1 to
/// 253). Returns the reading end, which hangs up when the receiver has closed them all, or -1 with errno.
int test_send_datagram(const char *path, const void *bytes, size_t count, size_t copies);

/// Sends, over a connected Unix socket, a descriptor along with some bytes: of a file, or where that is NULL of a TCP
/// connection that lingers for ten minutes (SO_LINGER, socket(7)) in whoever has it last and closes it, or until the
/// descriptor is closed that this returns. -1 with errno where it cannot be sent.
int test_send_lingering(int socket, const char *file, const void *bytes, size_t count, int flags);

#endif
