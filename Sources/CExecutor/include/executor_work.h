// What a command is started with: a memory file beside START that nobody can change any more.
#ifndef EXECUTOR_WORK_H
#define EXECUTOR_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    EXECUTOR_WORK_MAGIC = 0x57544742, // "BGTW"
    /// Bytes of one work; a task's has 2 MiB of strings at most.
    EXECUTOR_WORK_BYTES_MAX = 4 * 1024 * 1024,
};

enum executor_work_flag {
    /// The command becomes the user below.
    EXECUTOR_CHANGES_USER = 1 << 0,
    /// No program that it executes gives it rights that it has not (PR_SET_NO_NEW_PRIVS).
    EXECUTOR_NO_NEW_PRIVILEGES = 1 << 1,
};

/// The beginning of the file. `group_count` gids follow, then strings that end with NUL: the search path, the directory
/// (empty: the executor's own), where to go if that cannot be entered (empty: the start fails then), the arguments of the
/// command, those of its expiration handler, and the environment, NAME=value. Nothing comes after them.
struct executor_work_header {
    uint32_t magic;
    uint32_t flags;
    uint32_t argument_count;
    /// 0: no command is run as the handler.
    uint32_t handler_argument_count;
    uint32_t environment_count;
    uint32_t group_count;
    uint32_t user;
    uint32_t group;
    uint32_t file_mode_mask;
    /// How many processes and threads its group may have (pids.max); 0: as many as the machine.
    uint32_t processes_max;
    /// The soft RLIMIT_NOFILE; 0 keeps the executor's.
    uint64_t open_files_soft;
};

/// A work that was read. The strings are in the bytes that it was read from; the arrays are its own.
struct executor_work {
    struct executor_work_header header;
    const gid_t *groups;
    const char *search_path;
    /// NULL where there is none.
    const char *directory;
    const char *directory_fallback;
    /// NULL-terminated.
    char **arguments;
    char **handler_arguments;
    char **environment;
    char **pointers;
};

/// Reads a work, and trusts nothing in it. Returns 0; EBADMSG for what is none; ENOMEM.
int executor_work_read(const void *bytes, size_t length, struct executor_work *work);

void executor_work_free(struct executor_work *work);

#endif
