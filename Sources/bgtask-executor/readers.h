// What /proc tells of processes of users is read by processes of their own (clinux_reader.h). Nobody waits for them here.
#ifndef READERS_H
#define READERS_H

#include <stdbool.h>

#include "CLinux.h"

/// Who asks, one question at a time. It has to stay where it is.
struct asker {
    /// Called with the answer, in a later turn of the loop.
    void (*answered)(const struct clx_answer *answer);
    /// Of the question that is open, or 0.
    uint64_t question;
    struct asker *next;
};

/// Returns 0 or an errno.
int readers_begin(void);

/// Asks, where nothing is asked already. Returns false where it cannot be asked now.
bool readers_ask(struct asker *asker, const struct clx_question *question);

/// Passes answers on, and tells of what nobody has answered.
void readers_hear(void);

/// Sees to it that there is somebody to answer; after all who may ask in a turn. Returns the milliseconds until it has to be called again, or -1.
int readers_turn(void);

#endif
