#ifndef CLINUX_CLONE3_H
#define CLINUX_CLONE3_H

#include <linux/sched.h>
#include <stddef.h>

/// clone3(2) for a child that has a stack of its own: runs `function(argument)` there and
/// exits with what it returns. Returns the child's id, or minus the errno; errno is not set.
long clx_clone3(struct clone_args *args, size_t size, int (*function)(void *), void *argument);

#endif
