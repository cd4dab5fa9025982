// What strangers may have mounted something on is removed by somebody else than who serves others.
//
// Who removes a folder or a file (rmdir(2), unlink(2)), or puts another in its place (rename(2)), also lets go of what is mounted
// there in any mount namespace, and everybody may mount on what they can see, in a namespace of their own. To let go of such a file
// system may take as long as its user likes, and a thread that does so outlives SIGKILL. So names are given to a process that
// shares nothing with the one that serves. Where it is held up another one goes on behind it.
#ifndef CLINUX_REMOVER_H
#define CLINUX_REMOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /// Processes that may be held up at once. Beyond that, what is named waits.
    CLX_REMOVERS_MAX = 512,
    /// After so long one is held up.
    CLX_REMOVER_HELD_UP_MS = 20,
    /// How long one with nothing to do stays.
    CLX_REMOVER_IDLE_MS = 5000,
};

/// For one thread.
struct clx_remover {
    int folder;
    /// Names are sent to the first; all processes have the second.
    int names[2];
    /// Those that may not have ended.
    struct clx_remover_process {
        int socket;
        bool is_there;
    } processes[CLX_REMOVERS_MAX];
    int count;
    /// When it was seen last that names wait and whether any is removed; 0: nothing waits.
    uint64_t waits_since;
};

/// `folder` is where names begin, and is borrowed for good. Returns 0 or an errno.
int clx_remover_begin(struct clx_remover *remover, int folder);

/// Has a name removed: a socket, an empty folder, or one with nothing in it but such, at most 16 deep. What cannot be removed
/// stays. Returns 0 or an errno: EAGAIN where too many wait.
int clx_remover_remove(struct clx_remover *remover, const char *name);

/// After how many milliseconds it is to be asked for `clx_remover_lacks_process` again: soon while names wait, later while there
/// are processes that will end; -1: not before something else is named.
int clx_remover_next_look(const struct clx_remover *remover);

/// Whether another process is needed: there is none, or all are held up. `now` is in nanoseconds. Lets go of those that have
/// ended.
bool clx_remover_lacks_process(struct clx_remover *remover, uint64_t now);

/// Gives it a process that was made as a closer (`clx_closer_make`), whose socket is taken over. Returns 0 or an errno.
int clx_remover_employ(struct clx_remover *remover, int closer);

/// Lets go of all: they remove what has been named, and end. Waits until they have, or until none has said anything for so long.
/// Ten times as long is the most, and one that is not there yet has that. Returns whether they have ended.
bool clx_remover_end(struct clx_remover *remover, int milliseconds);

#endif
