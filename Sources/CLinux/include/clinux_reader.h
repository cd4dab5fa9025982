// What /proc tells of the processes of strangers is read by somebody else than who serves others.
//
// The kernel holds what is asked of for the time of the read: the memory of a process (its stat, status), its mount namespace (ns/mnt)
// or its root folder. Where the process ends meanwhile, who reads is the last to have that, and lets go of what was mapped and
// mounted there. That may take as long as that user likes, and a thread that does so outlives SIGKILL. So a process that shares
// nothing with the one that serves does the reads. Where one is held up, another takes its place.
#ifndef CLINUX_READER_H
#define CLINUX_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clinux_calls.h"
#include "clinux_processes.h"

enum {
    /// Processes that may be held up at once. Near that, nothing is read: EBUSY.
    CLX_READERS_MAX = 512,
    /// How many processes can be asked for at once.
    CLX_LOOK_MAX = 64,
    /// How much text can be asked for.
    CLX_READ_MAX = 8192,
};

/// From here on the calling thread has such reads done by processes. Other threads do them themselves, and so does this one where
/// none answers in two seconds though the kernel holds none of them up; what a signal ends is waited for 2 ms then at most
/// (clinux_waits.h). `make` returns the socket of a closer (`clx_closer_make`), or -1.
void clx_reader_begin(int (*make)(void *context), void *context);

/// The calling thread reads itself again.
void clx_reader_end(void);

/// The same for a child that was forked from who has readers, whose descriptors are not its own.
void clx_reader_forget(void);

/// Reads a file of /proc from its beginning, below an open folder or, with -1, by its path. In that of a process's status the line
/// of its groups is left out, and of "mountinfo" there are two lines: the number of its first mount, and of the one on its root
/// folder. Returns the length of the text, which ends with NUL, or -1: ETIMEDOUT where those who read are held up, EBUSY where
/// too many are.
ssize_t clx_read_of_process(int folder, const char *name, char *text, size_t capacity);

/// Reads many at once, as `clx_process_read`. The `pid` of one that is gone is 0. Returns 0 or an errno, as above.
int clx_processes_look(const pid_t *pids, size_t count, struct clx_process *processes);

/// What a process reaches, each with its errno, or 0.
struct clx_process_view {
    struct clx_namespace {
        int32_t error;
        /// The kernel's name for it (namespaces(7)).
        char name[60];
    } user, mount, network, process;
    int32_t root_error;
    struct clx_identity root;
};

/// Looks what the process of an open folder of /proc reaches. Returns 0 or an errno, as above.
int clx_process_look_at_view(int folder, struct clx_process_view *view);

#endif
