// What a command is started with, as this process has it.
#ifndef WORK_H
#define WORK_H

#include "CLinux.h"
#include "executor_work.h"

struct work {
    struct executor_work read;
    void *bytes;
};

/// Takes it out of a memory file that nobody can change any more. Returns 0 or an errno; what was taken has to be dropped in
/// each case.
int work_take(struct work *work, int file);

void work_drop(struct work *work);

/// How to start it, with these arguments, standard input and standard outputs, which are borrowed.
struct clx_spawn_request work_request(const struct work *work, char **arguments, const int descriptors[3]);

#endif
