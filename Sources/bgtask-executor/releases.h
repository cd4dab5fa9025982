// The reaping of children.
//
// Who reaps a process drops what the kernel has remembered of its folder in /proc, lets go of what somebody has mounted in there, and
// wakes all that poll its pidfd. Anybody can see to it that this takes as long as they like. So threads do it, which do nothing else.
// They allocate nothing and hold no lock that a child needs which is forked meanwhile.
#ifndef RELEASES_H
#define RELEASES_H

#include <stdbool.h>
#include <sys/types.h>

/// Returns 0 or an errno.
int releases_begin(void);

/// Has a child reaped that can be, and of which all has been learnt: it is over for all others here. It is in the list of children
/// until this turn ends at least.
void releases_add(pid_t child);

/// Whether a number is that of a child that is over and may not be reaped yet. When that is, reaping is noted: another child that has
/// the number by then may have been passed over.
bool releases_have(pid_t child);

/// Whether a thread is at work. It would hold up an execve(2) of this process for as long as it is.
bool releases_are_held_up(void);

/// Waits a moment until nobody is about to be taken out of the list of children. Returns false where somebody may be.
bool releases_settle(void);

/// Hands over what was added. Returns the milliseconds until it has to be called again, or -1.
int releases_turn(void);

#endif
