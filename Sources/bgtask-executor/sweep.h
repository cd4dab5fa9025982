// A signal on its way to all processes of a group, some each turn: a user may have thousands of them.
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "group.h"

/// Sends a signal to all in a group and below that a user's processes may signal, and one that is for all to all; to `main` before
/// the others. What a process starts after it got the signal is spared: it may be what handles it. Returns 0 or an errno, EPERM
/// where there are some and none of them may be signalled. `signalled` is how many got it at once, and `had_main` whether `main`
/// is there, or may be.
int sweep_signal(struct group *group, int number, uid_t user, pid_t main, uint32_t *signalled, bool *had_main);

/// Looks whether a user may signal all in a group and below, who stand still. `checked` is called with 0 or EPERM, maybe at once.
/// Returns 0 or an errno.
int sweep_check(struct group *group, uid_t user, void (*checked)(struct group *group, int error));

/// What is on its way in a group does not arrive.
void sweep_drop(const struct group *group);

/// Goes on. Returns the milliseconds until it has to be called again, or -1.
int sweep_turn(void);

#endif
