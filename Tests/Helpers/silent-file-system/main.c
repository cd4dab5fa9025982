// A file system with one file, `file`, that does not answer: for tests of what hangs in the kernel, where SIGKILL ends
// nothing.
//
//     silent-file-system hang-read|hang-flush|hang-unmount PATH
//
// It is mounted at PATH, for root or for who is root in a user namespace (unshare -rm), and everybody may use it. Where PATH is no
// folder, its root is its only file. `hang-read`: whoever reads the file hangs; `hang-flush`: whoever closes it; `hang-unmount`:
// whoever lets go of the last mount of it, since a child of this program that asks how much room is left (ustat(2)) holds it. It
// prints "ready", and for each that hangs
// a line: "hangs PID". They go on when it ends, and SIGTERM unmounts it as well. No library is needed: fuse(4),
// linux/fuse.h.
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    /// The number of the file; that of the folder is FUSE_ROOT_ID.
    FILE_ID = 2,
    REQUEST_MAX = 1 << 17,
};

static int device;
static const char *path;
/// The requests that nobody answers.
static uint32_t silent;
static mode_t root_mode = S_IFDIR | 0755;
static volatile sig_atomic_t is_ending;

static void end(int number) {
    (void)number;
    is_ending = 1;
}

static void answer(const struct fuse_in_header *request, int error, const void *body, size_t size) {
    struct fuse_out_header header = {
        .len = (uint32_t)(sizeof header + size), .error = -error, .unique = request->unique};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)body, size}};
    // The caller may have been interrupted meanwhile.
    if (writev(device, parts, size > 0 ? 2 : 1) < 0 && errno != ENOENT) perror("/dev/fuse");
}

static struct fuse_attr attributes(uint64_t node) {
    const bool is_file = node == FILE_ID;
    return (struct fuse_attr){
        .ino = node, .size = is_file ? 4096 : 0, .mode = is_file ? S_IFREG | 0666 : root_mode, .nlink = 1};
}

/// A child asks for what is not answered.
static void hold(void) {
#ifdef SYS_ustat
    struct stat root;
    char told[64];
    if (fork() > 0) return;
    // Whose last descriptor is closed has no answer any more.
    close(device);
    if (stat(path, &root) == 0) syscall(SYS_ustat, root.st_dev, told);
    _exit(0);
#endif
}

static void take(const struct fuse_in_header *request, const void *body) {
    if (request->opcode == silent) {
        printf("hangs %u\n", request->pid);
        return;
    }
    switch (request->opcode) {
    case FUSE_INIT: {
        const struct fuse_init_in *asked = body;
        const uint32_t ours = FUSE_KERNEL_MINOR_VERSION;
        const struct fuse_init_out told = {
            .major = FUSE_KERNEL_VERSION, .minor = asked->minor < ours ? asked->minor : ours,
            .max_readahead = asked->max_readahead, .max_write = 65536};
        answer(request, 0, &told, sizeof told);
        puts("ready");
        if (silent == FUSE_STATFS) hold();
        return;
    }
    case FUSE_LOOKUP: {
        if (strcmp(body, "file") != 0) return answer(request, ENOENT, NULL, 0);
        const struct fuse_entry_out entry = {.nodeid = FILE_ID, .attr = attributes(FILE_ID)};
        return answer(request, 0, &entry, sizeof entry);
    }
    case FUSE_GETATTR: {
        const struct fuse_attr_out told = {.attr = attributes(request->nodeid)};
        return answer(request, 0, &told, sizeof told);
    }
    case FUSE_OPEN:
    case FUSE_OPENDIR: {
        // Each read comes here, and not to the page cache.
        const struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
        return answer(request, 0, &opened, sizeof opened);
    }
    case FUSE_READ:
    case FUSE_READDIR:
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
        return answer(request, 0, NULL, 0);
    // Nothing is to be answered to these; an interrupted request is as silent as before.
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        return;
    default:
        return answer(request, ENOSYS, NULL, 0);
    }
}

static int serve(void) {
    static _Alignas(struct fuse_in_header) char request[REQUEST_MAX];
    while (!is_ending) {
        const ssize_t length = read(device, request, sizeof request);
        // Unmounted.
        if (length < 0 && errno == ENODEV) return 0;
        if (length < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT) {
            perror("/dev/fuse");
            return 1;
        }
        if (length < (ssize_t)sizeof(struct fuse_in_header)) continue;
        take((const struct fuse_in_header *)(const void *)request, request + sizeof(struct fuse_in_header));
        fflush(stdout);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "hang-read") == 0) silent = FUSE_READ;
    if (count == 3 && strcmp(arguments[1], "hang-flush") == 0) silent = FUSE_FLUSH;
    if (count == 3 && strcmp(arguments[1], "hang-unmount") == 0) silent = FUSE_STATFS;
    if (silent == 0) return 64;
    path = arguments[2];
    struct stat target;
    if (stat(path, &target) == 0 && !S_ISDIR(target.st_mode)) root_mode = S_IFREG | 0666;
    const struct sigaction ends = {.sa_handler = end};
    sigaction(SIGTERM, &ends, NULL);
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=%o,user_id=%u,group_id=%u,allow_other", device,
             root_mode, getuid(), getgid());
    if (device < 0 || mount("silent", path, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
        perror(device < 0 ? "/dev/fuse" : path);
        return 1;
    }
    const int status = serve();
    umount2(path, MNT_DETACH);
    return status;
}
