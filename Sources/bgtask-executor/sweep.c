#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.h"
#include "strays.h"

enum {
    PROCESSES_MAX = 1 << 16,
    /// Processes that are looked at together, which is what a turn does.
    BATCH = 64,
};

/// Process numbers, in the order of the kernel's lists.
struct numbers {
    pid_t *all;
    size_t count;
    size_t capacity;
};

struct sweep {
    struct group *group;
    /// 0: nobody is signalled.
    int number;
    uid_t user;
    void (*checked)(struct group *group, int error);
    struct numbers all;
    size_t next_number;
    /// Whether its list is made; how many got the signal, and how many may not be signalled.
    bool is_listed;
    uint32_t signalled, refused;
    struct sweep *next;
};

/// In the order in which they were begun.
static struct sweep *first;

// MARK: - Lists

static int add(struct numbers *numbers, pid_t number) {
    if (numbers->count == numbers->capacity) {
        const size_t capacity = numbers->capacity == 0 ? 64 : numbers->capacity * 2;
        pid_t *all = capacity > PROCESSES_MAX ? NULL : realloc(numbers->all, capacity * sizeof *all);
        if (all == NULL) return ENOMEM;
        numbers->all = all;
        numbers->capacity = capacity;
    }
    numbers->all[numbers->count++] = number;
    return 0;
}

static int add_processes(int parent, const char *name, void *numbers) {
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    const int file = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    close(folder);
    if (file < 0) return errno;
    FILE *stream = fdopen(file, "r");
    if (stream == NULL) {
        close(file);
        return ENOMEM;
    }
    int error = 0;
    for (int number; error == 0 && fscanf(stream, "%d", &number) == 1;) error = add(numbers, number);
    fclose(stream);
    return error;
}

static int list(const struct group *group, struct numbers *numbers) {
    numbers->count = 0;
    const int error = add_processes(group->folder, ".", numbers);
    return error != 0 ? error : group_each_below(group->folder, add_processes, numbers);
}

// MARK: - One sweep

static void treat(struct sweep *sweep, pid_t process, int pidfd) {
    const int result = clx_signal_for(sweep->user, process, pidfd, sweep->number);
    if (result == 0 && sweep->number != 0) sweep->signalled++;
    if (result == EPERM) sweep->refused++;
}

/// Whether a process is in a group or below it.
static bool is_in(const struct group *group, pid_t process) {
    char name[GROUP_NAME_BYTES];
    struct command *command;
    return strays_place(process, name, &command) == PLACE_INSIDE && command == group->command;
}

/// Those of a batch that are in the group by the time that their pidfds are open: a number alone may be another process's by now.
static void treat_some(struct sweep *sweep) {
    const size_t left = sweep->all.count - sweep->next_number, count = left < BATCH ? left : BATCH;
    for (size_t i = 0; i < count; i++) {
        const pid_t process = sweep->all.all[sweep->next_number++];
        const int pidfd = clx_pidfd_open(process);
        if (pidfd < 0) continue;
        if (is_in(sweep->group, process)) treat(sweep, process, pidfd);
        close(pidfd);
    }
}

static int make_list(struct sweep *sweep, pid_t main, bool *had_main) {
    const int error = list(sweep->group, &sweep->all);
    sweep->is_listed = true;
    for (size_t i = 0; i < sweep->all.count; i++) {
        if (sweep->all.all[i] != main) continue;
        *had_main = true;
        sweep->all.all[i] = sweep->all.all[0];
        sweep->all.all[0] = main;
    }
    return error;
}

/// Does the next part. Returns 0 or an errno.
static int go_on(struct sweep *sweep, pid_t main, bool *had_main) {
    // The list comes before the first signal: what is started in answer to that is not in it.
    const int error = sweep->is_listed ? 0 : make_list(sweep, main, had_main);
    if (error == 0) treat_some(sweep);
    return error;
}

static bool is_done(const struct sweep *sweep) {
    return sweep->is_listed && (sweep->next_number == sweep->all.count || (sweep->number == 0 && sweep->refused > 0));
}

static void drop(struct sweep *sweep) {
    free(sweep->all.all);
    free(sweep);
}

/// Lets go of one that is not in the list.
static void end(struct sweep *sweep, int error) {
    struct group *group = sweep->group;
    void (*checked)(struct group *, int) = sweep->checked;
    const bool is_refused = sweep->refused > 0;
    drop(sweep);
    // Where it could not be seen, nobody is kept from anything.
    if (checked != NULL) checked(group, error == 0 && is_refused ? EPERM : 0);
}

// MARK: - All

static struct sweep *make(struct group *group, int number, uid_t user) {
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep != NULL) *sweep = (struct sweep){.group = group, .number = number, .user = user};
    return sweep;
}

/// Puts one behind the others, unless the same is to begin there anyway.
static void enqueue(struct sweep *sweep) {
    struct sweep **place = &first;
    for (; *place != NULL; place = &(*place)->next) {
        const struct sweep *other = *place;
        if (other->group != sweep->group || other->number != sweep->number || other->is_listed) continue;
        drop(sweep);
        return;
    }
    *place = sweep;
}

static bool is_under_way(const struct group *group) {
    const struct sweep *sweep = first;
    while (sweep != NULL && sweep->group != group) sweep = sweep->next;
    return sweep != NULL;
}

int sweep_signal(struct group *group, int number, uid_t user, pid_t main, uint32_t *signalled, bool *had_main) {
    struct sweep *sweep = make(group, number, user);
    *signalled = 0;
    *had_main = is_under_way(group);
    if (sweep == NULL) return ENOMEM;
    if (*had_main) {
        // Each process gets them in their order.
        enqueue(sweep);
        return 0;
    }
    const int error = go_on(sweep, main, had_main);
    *signalled = sweep->signalled;
    if (error == 0 && !is_done(sweep)) {
        enqueue(sweep);
        return 0;
    }
    const bool is_refused = sweep->refused > 0 && sweep->signalled == 0;
    end(sweep, error);
    return error == 0 && is_refused ? EPERM : error;
}

int sweep_check(struct group *group, uid_t user, void (*checked)(struct group *group, int error)) {
    struct sweep *sweep = make(group, 0, user);
    bool had_main;
    if (sweep == NULL) return ENOMEM;
    sweep->checked = checked;
    const int error = go_on(sweep, 0, &had_main);
    if (error == 0 && !is_done(sweep)) {
        enqueue(sweep);
    } else {
        end(sweep, error);
    }
    return 0;
}

void sweep_drop(const struct group *group) {
    for (struct sweep **place = &first; *place != NULL;) {
        struct sweep *sweep = *place;
        if (sweep->group != group) {
            place = &sweep->next;
            continue;
        }
        *place = sweep->next;
        drop(sweep);
    }
}

int sweep_turn(void) {
    struct sweep *sweep = first;
    bool had_main;
    if (sweep == NULL) return -1;
    const int error = go_on(sweep, 0, &had_main);
    if (error != 0 || is_done(sweep)) {
        first = sweep->next;
        end(sweep, error);
    }
    return first == NULL ? -1 : 0;
}
