// The children of this process, as the kernel lists them: in the order in which they became that.
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// The list as far as it has been read, and gone through. One whose bytes are 0 is at its beginning.
struct children {
    char *text;
    size_t length, capacity, at;
    bool is_read;
};

/// To be called once.
void children_begin(void);

/// Whether there is such a list; a kernel without CONFIG_PROC_CHILDREN has none.
bool children_are_listed(void);

/// Begins with the list as it is now.
void children_restart(struct children *children);

/// Reads on. Returns 0 or an errno. Who becomes a child is put at the end of the list, and who is reaped is taken out of it: what
/// is read after that is read at another place.
int children_read_on(struct children *children);

/// The next one of what was read, or 0 at its end.
pid_t children_next(struct children *children);

#endif
