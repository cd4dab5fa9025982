// The memory that a child runs on until it executes its program.
#ifndef CLINUX_CHILD_STACK_H
#define CLINUX_CHILD_STACK_H

#include <stddef.h>

#include "clinux_spawn.h"

/// A guard, a stack, and room for the longest path that the search for the program makes. All zero: none
/// yet. For one child at a time, and used again for the next.
struct clx_child_stack {
    char *memory;
    size_t bytes;
};

/// As `clx_spawn`, on a stack that is kept: making one is a tenth of what a start costs. `process`, unless it is
/// NULL, gets the child's id before the child does anything.
int clx_spawn_on(struct clx_child_stack *stack, const struct clx_spawn_request *request,
                 struct clx_spawn_result *result, pid_t *process);

void clx_child_stack_free(struct clx_child_stack *stack);

#endif
