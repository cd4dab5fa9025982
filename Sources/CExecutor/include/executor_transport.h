// Records on their way, with the descriptors beside them.
#ifndef EXECUTOR_TRANSPORT_H
#define EXECUTOR_TRANSPORT_H

#include <stddef.h>
#include <sys/types.h>

#include "executor_record.h"

/// Sends one record without waiting. Returns 0 or an errno: EAGAIN, ENOBUFS or ETOOMANYREFS where the other end has to read
/// before there is room.
int executor_send(int socket, const struct executor_record *record, const int *descriptors, size_t count);

/// What was received, a byte longer than a record, so that a longer one can be told from it.
struct executor_message {
    unsigned char bytes[EXECUTOR_RECORD_BYTES + 1];
    size_t length;
    /// Close-on-exec, and the receiver's.
    int descriptors[EXECUTOR_DESCRIPTORS_MAX];
    size_t count;
};

/// Receives one message without waiting. Returns 0 or an errno: EAGAIN where there is none; EPIPE where the other end is
/// gone; EMFILE where there were too many descriptors, or not all could be had, and all are closed.
int executor_receive(int socket, struct executor_message *message);

/// A memory file with these bytes, which nobody can change any more; close-on-exec. Returns it, or -1 with errno.
int executor_sealed_file(const void *bytes, size_t length);

#endif
