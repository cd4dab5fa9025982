#pragma once

#include <stdint.h>

/// What SQLite asks of the layer below it that changes a disk.
enum faulty_operation {
    FAULTY_OPEN,
    FAULTY_WRITE,
    FAULTY_SYNC,
    FAULTY_TRUNCATE,
    FAULTY_DELETE,
};

/// Added to an errno: the first half of a write is done before it fails.
#define FAULTY_TORN 0x10000

/// Called before each such operation: with the offset and bytes of a write, or the size of a truncation.
/// Answers 0 to let it through, or the errno that it fails with.
typedef int (*faulty_hook)(
    void *context, enum faulty_operation operation, const char *path, int64_t offset,
    const void *bytes, int count);

struct faulty_vfs;

/// A layer over the system's own, known to SQLite by that name until it is freed; NULL without memory.
struct faulty_vfs *faulty_vfs_new(const char *name, faulty_hook hook, void *context);

/// The hook is not called any more; files that are open stay usable.
void faulty_vfs_free(struct faulty_vfs *vfs);
