#ifndef REQUEST_H
#define REQUEST_H

#include <stddef.h>

#include "clinux_spawn.h"

/// Reads what the daemon wrote into the memory file `descriptor`.
///
/// The pointers of `spawn` lead into one mapping, which is given back by `request_free`.
/// Returns 0 or an errno (EBADMSG where the file is not a whole request).
int request_read(int descriptor, struct clx_spawn_request *spawn);

void request_free(void);

#endif
