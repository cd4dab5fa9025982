#include "closers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CLinux.h"
#include "orphans.h"

enum {
    /// Users who have one at a time; another's takes the place of the one that was given nothing for the longest time.
    CLOSERS_MAX = 32,
};

struct closer {
    uint32_t user;
    int socket;
};

static int maker = -1;
static pid_t maker_pid;
/// The one that was given something last comes first.
static struct closer closers[CLOSERS_MAX];
static int count;

int closers_begin(void) {
    if (maker >= 0) close(maker);
    maker = clx_closers_begin(&maker_pid);
    return maker < 0 ? errno : orphans_spare(maker_pid);
}

pid_t closers_maker(void) {
    return maker_pid;
}

static void move_to_front(int place) {
    const struct closer closer = closers[place];
    memmove(closers + 1, closers, (size_t)place * sizeof closer);
    closers[0] = closer;
}

/// It does what it has been given, and ends.
static void drop(int place) {
    close(closers[place].socket);
    count--;
    memmove(closers + place, closers + place + 1, (size_t)(count - place) * sizeof closers[0]);
}

/// Closes it, with a closer of that user. Returns 0, or an errno and closes nothing.
static int close_by_one_of(uint32_t user, int descriptor) {
    for (int i = 0; i < count; i++) {
        if (closers[i].user != user) continue;
        const int error = clx_closer_close(closers[i].socket, 0, descriptor);
        // It has ended, having had nothing to do, or has all that it can hold.
        if (error != 0) drop(i);
        if (error == 0) move_to_front(i);
        return error;
    }
    return ESRCH;
}

int closers_make(void) {
    const int socket = maker < 0 ? -1 : clx_closer_make(maker);
    if (socket >= 0 || (maker >= 0 && errno != EPIPE)) return socket;
    // Somebody has ended the maker, or it could not be made anew then.
    const int error = closers_begin();
    errno = error;
    return error == 0 ? clx_closer_make(maker) : -1;
}

static int make_one_of(uint32_t user) {
    const int socket = closers_make();
    if (socket < 0) return errno;
    if (count == CLOSERS_MAX) drop(count - 1);
    closers[count] = (struct closer){.user = user, .socket = socket};
    move_to_front(count++);
    return 0;
}

void closers_let_go(int kept, uint32_t user, bool is_shared) {
    if (kept < 0) return;
    // From here on nothing comes, so that the look is of all.
    if (!is_shared) shutdown(kept, SHUT_RDWR);
    if (!clx_socket_is_laden(kept, is_shared)) {
        close(kept);
        return;
    }
    if (close_by_one_of(user, kept) == 0) return;
    int error = make_one_of(user);
    if (error == 0) error = close_by_one_of(user, kept);
    if (error == 0) return;
    // To leave it open costs a descriptor; to close it here might cost all commands their limits.
    fprintf(stderr, "bgtask-executor: a socket of user %u stays open: %s\n", user, strerror(error));
}
