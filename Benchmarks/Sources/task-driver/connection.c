#include "connection.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

_Noreturn void fail(const char *operation, const char *reason) {
    fprintf(stderr, "task-driver: %s: %s\n", operation, reason);
    exit(1);
}

struct connection *connect_to(const char *path) {
    struct connection *connection = malloc(sizeof *connection);
    if (connection == NULL) fail("malloc", strerror(errno));
    connection->start = connection->end = 0;
    connection->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail(path, "too long");
    strcpy(address.sun_path, path);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) < 0)
        fail(path, strerror(errno));
    return connection;
}

void send_calls(struct connection *connection, const char *calls, size_t count) {
    while (count > 0) {
        ssize_t sent = send(connection->socket, calls, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) fail("send", strerror(errno));
        calls += sent;
        count -= (size_t)sent;
    }
}

/// Makes room, and reads what there is.
static void receive(struct connection *connection) {
    size_t kept = connection->end - connection->start;
    memmove(connection->bytes, connection->bytes + connection->start, kept);
    connection->start = 0;
    connection->end = kept;
    if (kept == sizeof connection->bytes) fail("recv", "a reply is too long");
    ssize_t count;
    do {
        count = recv(connection->socket, connection->bytes + kept,
                     sizeof connection->bytes - kept, 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) fail("recv", strerror(errno));
    if (count == 0) fail("recv", "the daemon closed the connection");
    connection->end += (size_t)count;
}

const char *take_reply(struct connection *connection) {
    size_t searched = 0;
    while (true) {
        char *start = connection->bytes + connection->start;
        size_t count = connection->end - connection->start;
        char *end = memchr(start + searched, 0, count - searched);
        if (end != NULL) {
            connection->start += (size_t)(end - start) + 1;
            if (strncmp(start, "{\"error\"", 8) == 0) fail("the daemon answered", start);
            return start;
        }
        searched = count;
        receive(connection);
    }
}

int64_t number_in(const char *reply, const char *field) {
    const char *place = strstr(reply, field);
    if (place == NULL) fail(field, reply);
    return strtoll(place + strlen(field), NULL, 10);
}

size_t append_begin(char *calls, int64_t duration_ms, int64_t grace_ms) {
    return 1 + (size_t)sprintf(
        calls,
        "{\"method\":\"org.bgtaskd.Tasks.Begin\",\"parameters\":{\"name\":\"held\","
        "\"budget\":{\"durationMs\":%lld,\"graceMs\":%lld}}}",
        (long long)duration_ms, (long long)grace_ms);
}

size_t append_end(char *calls, int64_t id) {
    return 1 + (size_t)sprintf(
        calls, "{\"method\":\"org.bgtaskd.Tasks.End\",\"parameters\":{\"id\":%lld}}",
        (long long)id);
}
