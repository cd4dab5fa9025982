// /proc, through a mount of one's own.
//
// The kernel drops a name of /proc when it finds that its process is gone, and with it what somebody has mounted there, in whatever
// mount namespace. Who looks the name up lets go of that then, and to let go of a file system may take as long as its user likes.
// Each mount of /proc that is made has names of its own (Linux 5.8), and on those of one that nobody else reaches nobody mounts
// anything.
#ifndef CLINUX_PROC_H
#define CLINUX_PROC_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/// From here on this process looks at /proc through a mount of its own, and so do its children until they close its descriptor. To
/// be called before there are other threads. Returns 0 or an errno: EPERM without CAP_SYS_ADMIN, or where parts of /proc are hidden,
/// as in a container. It looks at /proc as everybody else does then.
int clx_proc_begin(void);

/// The descriptor of that mount, or -1.
int clx_proc_descriptor(void);

/// For a child that has moved it, or has closed it (-1).
void clx_proc_is_at(int descriptor);

/// open(2) of a file that is there, closed by execve(2). "/proc/" itself, and what it says of processes, is looked up in the own
/// mount; all else as it is, since a container may show other figures of the machine. Async-signal-safe.
int clx_proc_open(const char *path, int flags);

/// readlink(2) and stat(2), likewise.
ssize_t clx_proc_read_link(const char *path, char *target, size_t capacity);
int clx_proc_stat(const char *path, struct stat *status);

#endif
