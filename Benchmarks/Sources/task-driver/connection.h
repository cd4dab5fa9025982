#ifndef TASK_DRIVER_CONNECTION_H
#define TASK_DRIVER_CONNECTION_H

#include <stddef.h>
#include <stdint.h>

#include "times.h"

/// A connection to the daemon, and what came over it and is not taken yet.
struct connection {
    int socket;
    size_t start, end;
    char bytes[256 * 1024];
};

/// Ends the program with one line.
_Noreturn void fail(const char *operation, const char *reason);

struct connection *connect_to(const char *path);

/// Sends whole calls, each with its NUL.
void send_calls(struct connection *connection, const char *calls, size_t count);

/// The next reply, which is not an error; valid until the next call of this.
const char *take_reply(struct connection *connection);

/// The number of a field, which is there.
int64_t number_in(const char *reply, const char *field);

/// Appends a call and its NUL.
///
/// @returns the bytes that were appended.
size_t append_begin(char *calls, int64_t duration_ms, int64_t grace_ms);
size_t append_end(char *calls, int64_t id);

enum { CALL_BYTES_MAX = 256 };

#endif
