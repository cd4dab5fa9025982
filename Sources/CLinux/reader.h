#ifndef CLINUX_READER_INTERNAL_H
#define CLINUX_READER_INTERNAL_H

#include "clinux_processes.h"

/// Reads one, by the calling thread itself. For a process of its own too: async-signal-safe. Returns false where it is gone.
bool clx_process_read_here(pid_t pid, struct clx_process *process);

/// Has a process that was made as a closer read what is asked for at its socket. Returns 0 or an errno.
int clx_closer_become_reader(int closer);

/// Reads what is asked for at a socket, until nobody can ask any more, or nobody has for some time. For a process of its own.
_Noreturn void clx_reader_work(int socket);

/// Sends a message with a descriptor, without waiting. Returns 0 or an errno: EPIPE where nobody takes it any more.
int clx_send_with(int socket, const void *bytes, size_t length, int descriptor);

/// Takes a message, with its descriptor or -1. Returns its length, 0 at the end, or -1.
ssize_t clx_receive_with(int socket, void *bytes, size_t capacity, int *descriptor, int flags);

#endif
