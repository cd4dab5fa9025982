// The control group that the service manager has given to this process, to make groups in.
#ifndef DELEGATION_H
#define DELEGATION_H

#include <limits.h>

/// Moves this process into the leaf `executor` of its delegated group, and passes on to the folder `commands` beside it what
/// the kernel counts there. Returns 0 with the path of that folder, which need not be there yet, or an errno; EPERM where the
/// group is not delegated. `group` is the name of the group, for a complaint.
int delegation_enter(char folder[PATH_MAX], char group[PATH_MAX]);

/// Sends SIGKILL to all that is in the delegated group, this process included, which the service manager has to have started
/// beside what the service runs. Returns an errno where that fails.
int delegation_kill(void);

#endif
