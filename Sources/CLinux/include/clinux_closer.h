// What strangers have sent to a socket is let go of by somebody else than who serves others.
//
// The last reference to a file that was sent over a Unix socket (SCM_RIGHTS) goes where its message is received, or where
// the socket is closed with the message in it. That may take as long as its sender likes, by a lingering TCP socket
// (SO_LINGER, socket(7)) or a file system that does not answer, and a thread that waits for the latter outlives SIGKILL, with
// its process's locks. So sockets are looked at before they are read and before they are closed, and one that has something is
// handed to a closer: a process that shares no memory, descriptors or locks with the one that has made it.
#ifndef CLINUX_CLOSER_H
#define CLINUX_CLOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Has the kernel refuse descriptors to who sends them to a stream, or to one that it accepts (SO_PASSRIGHTS, Linux 6.16).
/// Returns whether it does, and none is there already; if not, `clx_look_at_socket` and `clx_socket_is_laden` tell.
bool clx_refuse_descriptors(int socket);

/// Reads from a stream no more than one message that was sent, and of that a page at most, as recv(2) without waiting. Each
/// message that is taken wakes all that poll the sender's end, and recv(2) takes as many as there are.
ssize_t clx_receive_message(int socket, void *buffer, size_t capacity);

/// Looks at what waits in the socket of a stranger, as recv(2) without waiting, takes nothing and wakes nobody. `has_descriptor`:
/// whether one is among it. If not, what was looked at of a stream can be received.
ssize_t clx_look_at_socket(int socket, void *buffer, size_t capacity, bool *has_descriptor);

/// Takes a datagram of a socket that has SO_PASSCRED, without waiting for one. Returns its length, which may be more than
/// `capacity`, or -1; -1 in `sender` where the kernel named nobody. Where a descriptor comes with it, it is left where it
/// is, and `has_descriptor` is true.
ssize_t clx_receive_datagram(int socket, void *buffer, size_t capacity, uid_t *sender, bool *has_descriptor);

/// Whether closing a Unix socket may wait for what was sent to it, or wake all that poll its other end for each message: whether
/// anything was, or to a stream that another process has too a descriptor. It is sure where nothing can be sent any more
/// (shutdown(2)).
bool clx_socket_is_laden(int socket, bool is_shared);

enum {
    /// Of the text of a datagram that a closer takes.
    CLX_CLOSER_TEXT_BYTES = 4096,
};

/// What a closer has taken.
struct clx_closer_answer {
    uint64_t token;
    /// Of the datagram, more than CLX_CLOSER_TEXT_BYTES where its end is missing; -1: there was none.
    int64_t length;
    uint32_t sender;
    uint8_t text[CLX_CLOSER_TEXT_BYTES];
};

/// Forks the process that closers are forked from, early, so that they have little memory. Returns a socket to it, or -1;
/// `maker` gets its number. It ends when the socket is closed.
int clx_closers_begin(pid_t *maker);

/// Makes a closer. Returns a socket to it, on which nothing waits, or -1: EPIPE where the maker has ended. A closer ends
/// when the socket is closed and it has done what it was given; or after some seconds with nothing to do.
int clx_closer_make(int maker);

/// Connects to a Unix socket of a user's, by a process that has that user's rights and passes bytes on. Returns a non-blocking
/// socket, on which nothing but bytes comes; it hangs up where the process cannot connect, or somebody else listens there.
int clx_closer_connect(int maker, uid_t user, const char *path);

/// Closes a descriptor, and has a closer be the last of the two that close it. Returns 0, or an errno and closes nothing: EAGAIN
/// where it has too much to do, EPIPE where it has ended. It is answered under the token when it is closed, unless that is 0.
int clx_closer_close(int closer, uint64_t token, int descriptor);

/// Has a closer take one datagram of a socket, and answer with that under the token. Returns 0 or an errno, as above.
int clx_closer_take(int closer, uint64_t token, int descriptor);

/// Takes an answer. Returns 1, 0 where none waits, or -1: EPIPE where it has ended.
int clx_closer_answer(int closer, struct clx_closer_answer *answer);

#endif
