#include "clinux_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Set before there are threads, and in children that share no memory.
static int proc = -1;

static int fail(int descriptor) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    return error;
}

int clx_proc_begin(void) {
    if (proc >= 0) return 0;
    const int context = fsopen("proc", FSOPEN_CLOEXEC);
    if (context < 0) return errno;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0) return fail(context);
    // In no mount namespace: it is reached by this descriptor alone.
    const int made = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (made < 0) return fail(context);
    close(context);
    proc = made;
    return 0;
}

int clx_proc_descriptor(void) {
    return proc;
}

void clx_proc_is_at(int descriptor) {
    proc = descriptor;
}

/// The path below the own mount, or as it is.
static const char *below(const char *path) {
    static const char prefix[] = "/proc/";
    if (proc < 0 || strncmp(path, prefix, sizeof prefix - 1) != 0) return path;
    const char *name = path + sizeof prefix - 1;
    if (name[0] == '\0') return ".";
    return (name[0] >= '1' && name[0] <= '9') || strncmp(name, "self", 4) == 0 ? name : path;
}

int clx_proc_open(const char *path, int flags) {
    return (int)syscall(SYS_openat, proc, below(path), flags | O_CLOEXEC, 0);
}

ssize_t clx_proc_read_link(const char *path, char *target, size_t capacity) {
    return readlinkat(proc, below(path), target, capacity);
}

int clx_proc_stat(const char *path, struct stat *status) {
    return fstatat(proc, below(path), status, 0);
}
