#include "closers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CLinux.h"
#include "loop.h"
#include "orphans.h"

enum {
    /// Users who have one at a time; another's takes the place of the one that was given nothing for the longest time.
    CLOSERS_MAX = 32,
};

struct closer {
    /// Ready when it has ended, having had nothing to do.
    struct source end;
    int socket;
    uint32_t user;
    /// The number of its last order; 0: there is none in this place.
    uint64_t last_order;
};

static int maker = -1;
static pid_t maker_pid;
static struct closer closers[CLOSERS_MAX];
static uint64_t orders;

int closers_begin(void) {
    if (maker >= 0) close(maker);
    maker = clx_closers_begin(&maker_pid);
    return maker < 0 ? errno : orphans_spare(maker_pid);
}

pid_t closers_maker(void) {
    return maker_pid;
}

/// It does what it has been given, and ends.
static void drop(struct closer *closer) {
    loop_forget(&closer->end);
    close(closer->socket);
    closer->last_order = 0;
}

static void has_ended(struct source *source, uint32_t events) {
    (void)events;
    drop(OWNER(source, struct closer, end));
}

/// Closes it, with a closer of that user. Returns 0, or an errno and closes nothing.
static int close_by_one_of(uint32_t user, int descriptor) {
    for (int i = 0; i < CLOSERS_MAX; i++) {
        struct closer *closer = &closers[i];
        if (closer->last_order == 0 || closer->user != user) continue;
        const int error = clx_closer_close(closer->socket, 0, descriptor);
        // It has ended, having had nothing to do, or has all that it can hold.
        if (error != 0) drop(closer);
        if (error == 0) closer->last_order = ++orders;
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
    struct closer *place = closers;
    for (int i = 1; i < CLOSERS_MAX; i++) {
        if (closers[i].last_order < place->last_order) place = &closers[i];
    }
    if (place->last_order != 0) drop(place);
    place->end.ready = has_ended;
    // Its end is told whatever is asked for.
    const int error = loop_watch(&place->end, socket, 0);
    if (error != 0) {
        close(socket);
        return error;
    }
    place->socket = socket;
    place->user = user;
    place->last_order = ++orders;
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
