#include "elsewhere.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "CLinux.h"
#include "group.h"
#include "strays.h"

enum {
    /// What one turn looks at.
    GROUPS_MAX = 64,
    PROCESSES_MAX = 64,
    DEPTH_MAX = 16,
    /// Of them and of their parents up to this process.
    READS_MAX = 512,
    /// How often those that stand still are looked at, since some may be on their way to that.
    CHECKS_MAX = 4,
};

/// A check of all in a group and below.
struct check {
    const struct command *command;
    int groups, processes, reads;
    /// Some were gone before they were looked at.
    bool has_missed;
};

/// The child of this process that a process descends from, or -1; 0 where one of its parents is gone.
static pid_t top_of(struct check *check, pid_t process) {
    const pid_t self = getpid();
    while (++check->reads <= READS_MAX) {
        struct clx_process now;
        if (!clx_process_read(process, &now)) return 0;
        if (now.parent == self) return process;
        if (now.parent <= 1) return -1;
        process = now.parent;
    }
    return -1;
}

static bool is_of(struct check *check, pid_t process) {
    const pid_t top = ++check->processes > PROCESSES_MAX ? -1 : top_of(check, process);
    if (top == 0) check->has_missed = true;
    return top == 0 || (top > 0 && strays_owner(process, top) == check->command);
}

static bool are_its_processes(struct check *check, int folder) {
    const int file = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    if (stream == NULL) {
        if (file >= 0) close(file);
        return false;
    }
    bool are_its = true;
    for (int number; are_its && fscanf(stream, "%d", &number) == 1;) are_its = is_of(check, number);
    // A group of threads alone lists no processes.
    if (ferror(stream)) are_its = false;
    fclose(stream);
    return are_its;
}

static bool are_all_its(struct check *check, int folder, int depth) {
    if (depth > DEPTH_MAX || ++check->groups > GROUPS_MAX || !are_its_processes(check, folder)) return false;
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (stream == NULL) {
        if (copy >= 0) close(copy);
        return false;
    }
    bool are_its = true;
    for (struct dirent *entry; are_its && (entry = readdir(stream)) != NULL;) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
        const int below = openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below < 0) {
            are_its = errno == ENOENT;
            continue;
        }
        are_its = are_all_its(check, below, depth + 1);
        close(below);
    }
    closedir(stream);
    return are_its;
}

/// Those that stand still do not fork, so that all can be looked at. Who enters the group after that is killed too.
static bool stand_still_and_are_its(const struct command *command, int folder) {
    for (int i = 0; i < CHECKS_MAX; i++) {
        struct check check = {.command = command};
        if (!are_all_its(&check, folder, 0)) return false;
        if (!check.has_missed) return true;
    }
    return false;
}

void elsewhere_kill(const struct command *command, const char *path) {
    const int folder = openat(groups_folder(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    struct check check = {.command = command};
    // Nobody else is to stand still either. The topmost group cannot.
    if (are_all_its(&check, folder, 0) && group_write(folder, "cgroup.freeze", "1") == 0) {
        if (stand_still_and_are_its(command, folder)) group_write(folder, "cgroup.kill", "1");
        group_write(folder, "cgroup.freeze", "0");
    }
    close(folder);
}
