// The commands by when something of them is due: a binary heap.
#ifndef DEADLINES_H
#define DEADLINES_H

#include "command.h"

/// When something of a command is due next; 0: never.
uint64_t deadline_of(const struct command *command);

/// Makes room for one command more, so that `deadlines_update` of it cannot fail. Returns 0 or ENOMEM.
int deadlines_reserve(void);

/// A command is new, or something else is due.
void deadlines_update(struct command *command);

/// Takes a command out, and gives its room back.
void deadlines_remove(struct command *command);

/// The one that is due first, or NULL.
struct command *deadlines_first(void);

#endif
