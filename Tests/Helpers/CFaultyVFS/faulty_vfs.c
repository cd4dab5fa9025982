#include "faulty_vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct faulty_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    faulty_hook hook;
    void *context;
    /// Those that are open, and the layer itself until it is freed.
    int users;
    char name[64];
};

struct faulty_file {
    sqlite3_file base;
    struct faulty_vfs *vfs;
    const char *path;
    sqlite3_file *real;
};

static struct faulty_file *own(sqlite3_file *file) {
    return (struct faulty_file *)file;
}

static sqlite3_file *real(sqlite3_file *file) {
    return own(file)->real;
}

/// The errno to fail with, or 0.
static int ask(
    struct faulty_vfs *vfs, enum faulty_operation operation, const char *path, int64_t offset,
    const void *bytes, int count) {
    if (path == NULL || vfs->hook == NULL) return 0;
    int answer = vfs->hook(vfs->context, operation, path, offset, bytes, count);
    // What a failed system call leaves.
    if (answer != 0) errno = answer & ~FAULTY_TORN;
    return answer;
}

static void release(struct faulty_vfs *vfs) {
    if (--vfs->users == 0) free(vfs);
}

static int file_close(sqlite3_file *file) {
    struct faulty_vfs *vfs = own(file)->vfs;
    int result = real(file)->pMethods->xClose(real(file));
    release(vfs);
    return result;
}

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int error = ask(own(file)->vfs, FAULTY_WRITE, own(file)->path, offset, bytes, count);
    if (error & FAULTY_TORN) {
        error &= ~FAULTY_TORN;
        real(file)->pMethods->xWrite(real(file), bytes, count / 2, offset);
        errno = error;
    }
    if (error == ENOSPC) return SQLITE_FULL;
    if (error != 0) return SQLITE_IOERR_WRITE;
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (ask(own(file)->vfs, FAULTY_TRUNCATE, own(file)->path, size, NULL, 0) != 0) {
        return SQLITE_IOERR_TRUNCATE;
    }
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    if (ask(own(file)->vfs, FAULTY_SYNC, own(file)->path, 0, NULL, 0) != 0) {
        return SQLITE_IOERR_FSYNC;
    }
    return real(file)->pMethods->xSync(real(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int lock) {
    return real(file)->pMethods->xLock(real(file), lock);
}

static int file_unlock(sqlite3_file *file, int lock) {
    return real(file)->pMethods->xUnlock(real(file), lock);
}

static int file_check_lock(sqlite3_file *file, int *answer) {
    return real(file)->pMethods->xCheckReservedLock(real(file), answer);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}

static int file_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int file_shm_map(
    sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
    real(file)->pMethods->xShmBarrier(real(file));
}

static int file_shm_unmap(sqlite3_file *file, int remove) {
    return real(file)->pMethods->xShmUnmap(real(file), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(
    sqlite3_vfs *base, const char *path, sqlite3_file *file, int flags, int *flags_out) {
    struct faulty_vfs *vfs = (struct faulty_vfs *)base;
    struct faulty_file *opened = own(file);
    memset(opened, 0, sizeof *opened);
    if ((flags & SQLITE_OPEN_CREATE) != 0 && ask(vfs, FAULTY_OPEN, path, 0, NULL, 0) != 0) {
        return SQLITE_CANTOPEN;
    }
    opened->vfs = vfs;
    opened->path = path;
    opened->real = (sqlite3_file *)(opened + 1);
    int result = vfs->real->xOpen(vfs->real, path, opened->real, flags, flags_out);
    if (result == SQLITE_OK) {
        opened->base.pMethods = &methods;
        vfs->users += 1;
    }
    return result;
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int sync_folder) {
    struct faulty_vfs *vfs = (struct faulty_vfs *)base;
    if (ask(vfs, FAULTY_DELETE, path, 0, NULL, 0) != 0) return SQLITE_IOERR_DELETE;
    return vfs->real->xDelete(vfs->real, path, sync_folder);
}

struct faulty_vfs *faulty_vfs_new(const char *name, faulty_hook hook, void *context) {
    struct faulty_vfs *vfs = calloc(1, sizeof *vfs);
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (vfs == NULL || system == NULL || strlen(name) >= sizeof vfs->name) {
        free(vfs);
        return NULL;
    }
    strcpy(vfs->name, name);
    vfs->users = 1;
    vfs->hook = hook;
    vfs->context = context;
    vfs->real = system;
    // What is not replaced here works on the system's own data, which is shared.
    vfs->base = *system;
    vfs->base.pNext = NULL;
    vfs->base.zName = vfs->name;
    vfs->base.szOsFile = (int)sizeof(struct faulty_file) + system->szOsFile;
    vfs->base.xOpen = vfs_open;
    vfs->base.xDelete = vfs_delete;
    if (sqlite3_vfs_register(&vfs->base, 0) != SQLITE_OK) {
        free(vfs);
        return NULL;
    }
    return vfs;
}

void faulty_vfs_free(struct faulty_vfs *vfs) {
    sqlite3_vfs_unregister(&vfs->base);
    vfs->hook = NULL;
    release(vfs);
}
