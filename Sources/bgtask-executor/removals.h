// Groups are removed by processes of their own: a user may have mounted something on their folders (clinux_remover.h).
#ifndef REMOVALS_H
#define REMOVALS_H

/// Names of groups are names below `tree`, which stays open. Returns 0 or an errno.
int removals_begin(int tree);

/// Has a group removed with what its processes have made below it. One with a process in it stays.
void removals_add(const char *name);

/// Goes on. Returns the milliseconds until it has to be called again, or -1.
int removals_turn(void);

/// Waits a moment for all that have been added.
void removals_end(void);

#endif
