#include "group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "removals.h"
#include "sweep.h"

enum {
    /// A command may make groups below its own, and must not keep us busy with too many.
    DEPTH_MAX = 16,
    /// What was killed and has not ended by then does nothing any more but what it asked the kernel for.
    LEFTOVER_WAIT_MS = 1000,
    /// Groups that wait to be used again.
    POOL_MAX = 32,
    /// By which groups are found by their watch.
    WATCH_CHAINS = 1 << 12,
    /// Reads of what others have changed, so that nobody keeps us reading.
    READS_MAX = 64,
};

static int tree = -1;
static uint64_t number_last;
/// Whether the kernel counts memory and processes of the groups there.
static bool has_memory, has_processes, is_known;
static struct group *pool;
static int pool_count;
/// What others change in groups (inotify(7)); -1: none is used again. And the groups that it tells of.
static int changes = -1;
static struct group *watched[WATCH_CHAINS];

// MARK: - Files

int group_write(int folder, const char *name, const char *text) {
    const int file = openat(folder, name, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    const int error = write(file, text, strlen(text)) < 0 ? errno : 0;
    close(file);
    return error;
}

/// The number behind a word in an open file of a group; 0 where there is none.
static uint64_t read_number(int file, const char *word) {
    uint64_t number = 0;
    return file >= 0 && clx_number_after(file, word, &number) == 1 ? number : 0;
}

static int for_each(int folder, int depth, int (*call)(int parent, const char *name, void *context), void *context) {
    if (depth > DEPTH_MAX) return 0;
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return errno == ENOENT ? 0 : errno;
    DIR *stream = fdopendir(copy);
    if (stream == NULL) {
        const int error = errno;
        close(copy);
        return error;
    }
    int error = 0;
    for (struct dirent *entry; error == 0 && (entry = readdir(stream)) != NULL;) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
        const int below = openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below < 0) continue;
        error = for_each(below, depth + 1, call, context);
        close(below);
        if (error == 0) error = call(dirfd(stream), entry->d_name, context);
        if (error == ENOENT) error = 0;
    }
    closedir(stream);
    return error;
}

int group_each_below(int folder, int (*call)(int parent, const char *name, void *context), void *context) {
    return for_each(folder, 0, call, context);
}

// MARK: - The tree

void group_pass_controllers(int folder) {
    // One by one: where one of them is missing, the other is still had.
    group_write(folder, "cgroup.subtree_control", "+memory");
    group_write(folder, "cgroup.subtree_control", "+pids");
}

/// Those of earlier executors, and what they have tried.
static int remove_all(void) {
    const int copy = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (stream == NULL) return errno;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') removals_add(entry->d_name);
    }
    closedir(stream);
    return 0;
}

int groups_open(const char *folder) {
    changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (mkdir(folder, 0755) < 0 && errno != EEXIST) return errno;
    tree = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree < 0) return errno;
    group_pass_controllers(tree);
    int error = group_write(tree, "cgroup.kill", "1");
    // Nothing that enters a frozen group goes on.
    if (error == 0) error = group_write(tree, "cgroup.freeze", "0");
    if (error != 0) return error;
    const int events = openat(tree, "cgroup.events", O_RDONLY | O_CLOEXEC);
    if (events < 0) return errno;
    const struct group all = {.folder = tree, .events.descriptor = events};
    for (int waited = 0; group_read(&all).is_populated && waited < LEFTOVER_WAIT_MS; waited += 10) {
        struct pollfd change = {.fd = events, .events = POLLPRI};
        poll(&change, 1, 10);
    }
    close(events);
    // Groups with processes that were killed and cannot end do no harm: new ones have other names. No name comes again, since
    // an earlier one may be removed at any time.
    number_last = loop_now() / 1000;
    error = removals_begin(tree);
    return error == 0 ? remove_all() : error;
}

int groups_folder(void) {
    return tree;
}

// MARK: - What others change

static struct group **place_of_watch(int watch) {
    struct group **place = &watched[(unsigned)watch % WATCH_CHAINS];
    while (*place != NULL && (*place)->watch != watch) place = &(*place)->next_watched;
    return place;
}

/// A command of root can set the limits of its group, and give its files to somebody. From now on that is noticed, also where it
/// is taken back.
static void begin_to_notice(struct group *group) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", group->folder);
    if (changes < 0 || has_memory) return;
    group->watch = inotify_add_watch(changes, path, IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_ONLYDIR);
    if (group->watch < 0) return;
    *place_of_watch(group->watch) = group;
}

static void notice_no_more(struct group *group) {
    if (group->watch < 0) return;
    inotify_rm_watch(changes, group->watch);
    *place_of_watch(group->watch) = group->next_watched;
}

static void wear(int watch) {
    struct group *group = *place_of_watch(watch);
    if (group != NULL) group->is_worn = true;
}

static void wear_all(void) {
    for (int i = 0; i < WATCH_CHAINS; i++) {
        for (struct group *group = watched[i]; group != NULL; group = group->next_watched) group->is_worn = true;
    }
}

/// Whether a change is the kernel's own, as in each group that gets its first process and loses its last.
static bool is_of_kernel(const struct inotify_event *event) {
    return event->mask == IN_MODIFY && event->len > 0 && strcmp(event->name, "cgroup.events") == 0;
}

static void take_notice(void) {
    _Alignas(struct inotify_event) char events[4096];
    for (int i = 0; i < READS_MAX; i++) {
        const ssize_t length = read(changes, events, sizeof events);
        if (length <= 0) return;
        for (const char *at = events; at < events + length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            if ((event->mask & IN_Q_OVERFLOW) != 0) {
                wear_all();
            } else if (!is_of_kernel(event)) {
                wear(event->wd);
            }
            at += sizeof *event + event->len;
        }
    }
    // Somebody changes more than is read, and others have to be served: what is not read yet may be of any.
    wear_all();
}

// MARK: - One group

static void name_of(uint64_t number, char name[32]) {
    snprintf(name, 32, "command-%llu", (unsigned long long)number);
}

/// Nobody asks any more what becomes of it.
static void stop_watch(struct group *group) {
    const int events = group->events.descriptor;
    loop_forget(&group->events);
    if (events >= 0) close(events);
}

/// Closes what is open of it.
static void close_group(struct group *group) {
    stop_watch(group);
    notice_no_more(group);
    if (group->cpu >= 0) close(group->cpu);
    if (group->folder >= 0) close(group->folder);
    free(group);
}

static void drop_group(struct group *group) {
    char name[32];
    name_of(group->number, name);
    close_group(group);
    removals_add(name);
}

/// Where it fails, there may be a folder.
static int make_folder(struct group *group) {
    char name[32];
    group->number = ++number_last;
    name_of(group->number, name);
    if (mkdirat(tree, name, 0755) < 0) return errno;
    group->folder = openat(tree, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int events = group->folder < 0 ? -1 : openat(group->folder, "cgroup.events", O_RDONLY | O_CLOEXEC);
    const int error = events < 0 ? errno : loop_watch(&group->events, events, EPOLLPRI);
    if (error != 0 && events >= 0) close(events);
    return error;
}

static int make_group(struct group **made, void (*changed)(struct source *source, uint32_t events)) {
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL) return ENOMEM;
    *group = (struct group){.folder = -1, .events = {.ready = changed, .descriptor = -1}, .cpu = -1, .watch = -1};
    const int error = make_folder(group);
    if (error != 0) {
        drop_group(group);
        return error;
    }
    *made = group;
    // It is the same of all that are made.
    if (is_known) return 0;
    has_memory = faccessat(group->folder, "memory.peak", F_OK, 0) == 0;
    has_processes = faccessat(group->folder, "pids.max", F_OK, 0) == 0;
    is_known = true;
    return 0;
}

/// One that was used before and has the same bound, or NULL.
static struct group *take_from_pool(uint32_t processes_max) {
    if (pool != NULL) take_notice();
    struct group **place = &pool;
    for (struct group *group; (group = *place) != NULL;) {
        if (group->is_remembered) {
            place = &group->next;
            continue;
        }
        *place = group->next;
        pool_count--;
        const struct group_state state = group_read(group);
        // Somebody may have been moved there.
        if (group->is_worn || group->processes_max != processes_max || state.is_populated || state.is_frozen) {
            drop_group(group);
            continue;
        }
        group->cpu_before_us = read_number(group->cpu, "usage_usec ");
        return group;
    }
    return NULL;
}

static int limit_processes(struct group *group, uint32_t processes_max) {
    group->processes_max = processes_max;
    // Where the kernel does not count them there is nothing to bound.
    if (!has_processes || processes_max == 0) return 0;
    char limit[16];
    snprintf(limit, sizeof limit, "%u", processes_max);
    const int error = group_write(group->folder, "pids.max", limit);
    return error == ENOENT ? 0 : error;
}

int group_take(
    struct command *command, uint32_t processes_max, void (*changed)(struct source *source, uint32_t events)) {
    struct group *group = take_from_pool(processes_max);
    if (group == NULL) {
        int error = make_group(&group, changed);
        if (error != 0) return error;
        error = limit_processes(group, processes_max);
        if (error != 0) {
            drop_group(group);
            return error;
        }
        begin_to_notice(group);
    }
    group->command = command;
    command->group = group;
    return 0;
}

/// Whether the next command in it would not notice who was there before, but for totals (cpu.stat, pids.peak) and for what root
/// has attached by bpf(2).
static bool is_as_new(struct group *group) {
    // What is in memory is charged to a group beyond the end of its processes.
    if (has_memory || group->watch < 0 || group->cpu < 0 || group_read(group).is_populated) return false;
    take_notice();
    if (group->is_worn) return false;
    if (!has_processes) return true;
    // Those that have ended count until somebody reaps them.
    const int file = openat(group->folder, "pids.current", O_RDONLY | O_CLOEXEC);
    uint64_t left = 1;
    if (file >= 0 && clx_number_after(file, "", &left) != 1) left = 1;
    if (file >= 0) close(file);
    return left == 0;
}

void group_give_back(struct group *group) {
    sweep_drop(group);
    if (pool_count == POOL_MAX || !is_as_new(group)) return drop_group(group);
    group->command = NULL;
    group->is_remembered = true;
    group->next = pool;
    pool = group;
    pool_count++;
}

void group_forget(uint64_t number) {
    for (struct group *group = pool; group != NULL; group = group->next) {
        if (group->number == number) group->is_remembered = false;
    }
}

void groups_end(void) {
    for (struct group *group; (group = pool) != NULL;) {
        pool = group->next;
        drop_group(group);
    }
    removals_end();
}

struct group_state group_read(const struct group *group) {
    struct group_state state;
    if (group->events.descriptor < 0) return (struct group_state){0};
    const int result = clx_group_events(group->events.descriptor, &state.is_populated, &state.is_frozen);
    return result < 0 ? (struct group_state){0} : state;
}

int group_freeze(struct group *group, bool is_frozen) {
    group->is_worn |= is_frozen;
    return group_write(group->folder, "cgroup.freeze", is_frozen ? "1" : "0");
}

int group_kill(struct group *group) {
    // From Linux 6.13 on a process that is cloned into a group that was killed before may be killed.
    group->is_worn = true;
    sweep_drop(group);
    return group_write(group->folder, "cgroup.kill", "1");
}

struct clx_use group_use(struct group *group) {
    if (group->cpu < 0) group->cpu = openat(group->folder, "cpu.stat", O_RDONLY | O_CLOEXEC);
    const uint64_t cpu_us = read_number(group->cpu, "usage_usec ");
    struct clx_use use = {.cpu_us = cpu_us > group->cpu_before_us ? cpu_us - group->cpu_before_us : 0};
    const int peak = has_memory ? openat(group->folder, "memory.peak", O_RDONLY | O_CLOEXEC) : -1;
    use.memory_peak_bytes = read_number(peak, "");
    if (peak >= 0) close(peak);
    return use;
}
