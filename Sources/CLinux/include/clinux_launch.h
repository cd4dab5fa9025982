// Starting a child without waiting for it: `clx_spawn` on another thread.
#ifndef CLINUX_LAUNCH_H
#define CLINUX_LAUNCH_H

#include "clinux_spawn.h"

struct clx_launch;

/// Begins a start; `completion`, an eventfd(2), becomes readable when it is done.
///
/// chdir(2) and execve(2) take as long as the file systems take that they lead to, and those may
/// be the submitter's own. All pointers of `request` and all descriptors must stay valid until
/// the launch is finished. Returns NULL with errno where no thread can be had.
struct clx_launch *clx_launch_begin(const struct clx_spawn_request *request, int completion);

/// The child of a start, or 0 while there has been none. Known before the child does anything, and thus before it
/// can have ended; it stays where that has ended because it could not be executed.
pid_t clx_launch_process(const struct clx_launch *launch);

/// Returns false while the start is under way; otherwise fills in the result and frees the launch.
bool clx_launch_finish(struct clx_launch *launch, struct clx_spawn_result *result);

#endif
