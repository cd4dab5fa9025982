#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

#include <malloc.h>
#include <stdbool.h>

/// Blocks of at least so many bytes go back to the kernel when they are freed (mallopt(3)).
static inline bool clx_set_mmap_threshold(int bytes) {
    return mallopt(M_MMAP_THRESHOLD, bytes) == 1;
}

#endif
