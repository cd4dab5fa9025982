#include "elsewhere.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "CLinux.h"
#include "group.h"
#include "loop.h"
#include "orphans.h"
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
    /// After so long who looks is held up; and how many may be at work or held up.
    HELD_UP_MS = 500,
    WORKERS_MAX = 32,
    WORKERS_OF_USER_MAX = 2,
};

/// A child that looks and kills, which knows the commands as they were when it was forked.
static struct worker {
    /// Its pidfd.
    struct source end;
    bool is_there;
    /// For which command.
    uint64_t command;
    uint32_t user;
    /// The group that it looks at.
    int folder;
    /// When it is held up; 0: it was found to be, and ends when it can.
    uint64_t held_up_at;
} workers[WORKERS_MAX];

/// A check of all in a group and below.
struct check {
    const struct command *command;
    int groups, processes, reads;
    /// Some were gone before they were looked at.
    bool has_missed;
};

/// The child of the executor that a process descends from, or -1; 0 where one of its parents is gone.
static pid_t top_of(struct check *check, pid_t process) {
    const pid_t self = getppid();
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
    struct clx_looked looked;
    const pid_t top = ++check->processes > PROCESSES_MAX ? -1 : top_of(check, process);
    clx_look(process, &looked);
    if (top == 0 || looked.process.pid == 0) check->has_missed = true;
    return top == 0 || looked.process.pid == 0 || (top > 0 && strays_owner(&looked, top) == check->command);
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

/// The first may be -1.
static void close_all_but(int one, int other) {
    if (one < 0) one = other;
    const int kept[] = {STDERR_FILENO, one < other ? one : other, one < other ? other : one};
    for (int i = 0; i < 3; i++) {
        const unsigned first = (unsigned)(kept[i] + 1), last = i < 2 ? (unsigned)kept[i + 1] - 1 : ~0U;
        if (first <= last) close_range(first, last, 0);
    }
}

/// In the child, which has nothing open but what it works with.
static _Noreturn void work(const struct command *command, int folder) {
    struct check check = {.command = command};
    close_all_but(clx_proc_descriptor(), folder);
    // Nobody else is to stand still either. The topmost group cannot.
    if (are_all_its(&check, folder, 0) && group_write(folder, "cgroup.freeze", "1") == 0) {
        if (stand_still_and_are_its(command, folder)) group_write(folder, "cgroup.kill", "1");
        group_write(folder, "cgroup.freeze", "0");
    }
    _exit(0);
}

static void has_ended(struct source *source, uint32_t events) {
    struct worker *worker = OWNER(source, struct worker, end);
    struct clx_exit end = {.was_signalled = true};
    (void)events;
    clx_end_of_pidfd(source->descriptor, &end);
    // Nobody is left standing still by one that did not come to its end.
    if (end.was_signalled) group_write(worker->folder, "cgroup.freeze", "0");
    const int pidfd = source->descriptor;
    loop_forget(source);
    close(pidfd);
    close(worker->folder);
    worker->is_there = false;
}

/// A place for one, unless another is at work for that command, or too many of that user's are held up.
static struct worker *place_for(const struct command *command) {
    struct worker *place = NULL;
    int count = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = &workers[i];
        if (!worker->is_there) place = worker;
        if (worker->is_there && worker->command == command->key) return NULL;
        if (worker->is_there && worker->user == command->user) count++;
    }
    return count < WORKERS_OF_USER_MAX ? place : NULL;
}

/// Returns 0 or an errno.
static int watch(struct worker *worker, pid_t process, int folder) {
    const int error = orphans_spare(process), pidfd = clx_pidfd_open(process);
    worker->end.ready = has_ended;
    worker->folder = folder;
    worker->held_up_at = loop_now() + (uint64_t)HELD_UP_MS * 1000000;
    const int failure = pidfd < 0 ? errno : error != 0 ? error : loop_watch(&worker->end, pidfd, EPOLLIN);
    if (failure != 0 && pidfd >= 0) close(pidfd);
    worker->is_there = failure == 0;
    return failure;
}

void elsewhere_kill(const struct command *command, const char *path) {
    struct worker *worker = place_for(command);
    const int folder = worker == NULL ? -1 : openat(groups_folder(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    const pid_t process = fork();
    if (process == 0) work(command, folder);
    worker->command = command->key;
    worker->user = command->user;
    if (process > 0 && watch(worker, process, folder) == 0) return;
    // It is not known when that comes to its end.
    if (process > 0) kill(process, SIGKILL);
    if (process > 0) group_write(folder, "cgroup.freeze", "0");
    close(folder);
}

int elsewhere_turn(void) {
    const uint64_t now = loop_now();
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = &workers[i];
        if (!worker->is_there || worker->held_up_at == 0) continue;
        if (worker->held_up_at <= now) {
            clx_pidfd_send_signal(worker->end.descriptor, SIGKILL);
            group_write(worker->folder, "cgroup.freeze", "0");
            worker->held_up_at = 0;
        } else if (worker->held_up_at < next) {
            next = worker->held_up_at;
        }
    }
    return next == UINT64_MAX ? -1 : (int)((next - now + 999999) / 1000000);
}
