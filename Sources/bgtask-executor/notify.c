#include "notify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "loop.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    /// What a stop may take longer, as it is told; and how often.
    EXTENSION_S = 15,
    EXTENSION_EVERY_S = 5,
};

static struct sockaddr_un manager;
static socklen_t manager_length;
/// Nanoseconds between two signs of life, or 0.
static uint64_t watchdog_every;
static uint64_t watchdog_next, status_next, extension_next;
/// Whether the service manager waits for them; and when a command began last.
static bool is_watched;
static uint64_t begun_at;
/// The commands that the status tells of.
static uint64_t told = UINT64_MAX;
static bool is_stopping;

static void take_address(const char *path) {
    const size_t length = path == NULL ? 0 : strlen(path);
    if (length < 2 || length >= sizeof manager.sun_path || (path[0] != '/' && path[0] != '@')) return;
    manager.sun_family = AF_UNIX;
    memcpy(manager.sun_path, path, length);
    // An abstract address has a NUL there (unix(7)), and none at its end.
    if (path[0] == '@') manager.sun_path[0] = '\0';
    manager_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
}

static uint64_t number_of(const char *name) {
    const char *text = getenv(name);
    char *end;
    if (text == NULL || text[0] < '0' || text[0] > '9') return 0;
    const uint64_t number = strtoull(text, &end, 10);
    return *end == '\0' ? number : 0;
}

void notify_begin(void) {
    static const char *const names[] = {
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"};
    take_address(getenv("NOTIFY_SOCKET"));
    const bool is_for_this = getenv("WATCHDOG_PID") == NULL || number_of("WATCHDOG_PID") == (uint64_t)getpid();
    const uint64_t microseconds = number_of("WATCHDOG_USEC");
    // Half of it; more than a year is never.
    if (is_for_this && microseconds <= UINT64_C(1) << 45) watchdog_every = microseconds * 500;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
}

/// Returns whether it has arrived: the service manager is not to hold up commands.
static bool say(const char *text) {
    if (manager_length == 0) return false;
    const int notice = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (notice < 0) return false;
    const ssize_t sent =
        sendto(notice, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&manager, manager_length);
    close(notice);
    return sent >= 0;
}

void notify_successor(int process) {
    char text[64];
    snprintf(text, sizeof text, "MAINPID=%d", process);
    say(text);
}

void notify_stopping(uint64_t until) {
    const uint64_t now = loop_now();
    if (!is_stopping) say("STOPPING=1");
    is_stopping = true;
    if (until <= now || now < extension_next) return;
    extension_next = now + EXTENSION_EVERY_S * SECOND_NS;
    char text[64];
    snprintf(text, sizeof text, "EXTEND_TIMEOUT_USEC=%d", EXTENSION_S * 1000000);
    say(text);
}

static void say_status(uint64_t commands, uint64_t now) {
    char text[64];
    snprintf(text, sizeof text, "STATUS=Commands: %llu", (unsigned long long)commands);
    say(text);
    told = commands;
    status_next = now + SECOND_NS;
}

/// 0 is never (sd_notify(3)).
static void say_watched(bool wanted) {
    char text[64];
    snprintf(text, sizeof text, "WATCHDOG_USEC=%llu", wanted ? (unsigned long long)watchdog_every / 500 : 0);
    if (say(text)) is_watched = wanted;
}

void notify_ready(void) {
    say("READY=1");
    // An earlier program of this process may have said otherwise.
    if (watchdog_every > 0) say_watched(true);
}

void notify_begins(void) {
    if (watchdog_every == 0) return;
    begun_at = loop_now();
    if (is_watched) say_watched(false);
}

/// Returns when there is more to say.
static uint64_t watchdog_turn(bool live, uint64_t now) {
    if (watchdog_every == 0) return UINT64_MAX;
    // That one begins has not arrived.
    if (live && is_watched) say_watched(false);
    if (live && !is_watched) return UINT64_MAX;
    if (now < watchdog_next) return watchdog_next;
    if (is_watched) say("WATCHDOG=1");
    // Not after each of many that end soon.
    if (!is_watched && now - begun_at >= watchdog_every) say_watched(true);
    watchdog_next = now + watchdog_every;
    return watchdog_next;
}

int notify_turn(uint64_t commands, bool live) {
    if (manager_length == 0) return -1;
    const uint64_t now = loop_now();
    uint64_t next = watchdog_turn(live, now);
    if (commands != told && now >= status_next) say_status(commands, now);
    if (commands != told && status_next < next) next = status_next;
    if (is_stopping && extension_next > now && extension_next < next) next = extension_next;
    if (next == UINT64_MAX) return -1;
    const uint64_t left = next > now ? (next - now + 999999) / 1000000 : 0;
    return left > 3600000 ? 3600000 : (int)left;
}
