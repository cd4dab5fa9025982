// The reaping of children that may take long.
//
// Who reaps a process drops what the kernel has remembered of its folder in /proc, name by name, and wakes all that poll its
// pidfd. Others can have seen to it that this takes seconds, of a process that has lived for a while. Threads do it then, which do
// nothing else. They allocate nothing and hold no lock that a child needs which is forked meanwhile.
#ifndef RELEASES_H
#define RELEASES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// Returns 0 or an errno.
int releases_begin(void);

/// Reaps a child that can be reaped, and of which all has been learnt: it is over for all others here. `age`: the nanoseconds since
/// it has begun, or more.
void releases_add(pid_t child, uint64_t age);

/// Whether a number is that of a child that is over and may not be reaped yet.
bool releases_have(pid_t child);

/// The same. Where it is, another child that has that number by now may be missed: reaping is noted again when it is free.
bool releases_pass_over(pid_t child);

#endif
