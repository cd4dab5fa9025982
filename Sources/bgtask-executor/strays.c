#include "strays.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elsewhere.h"
#include "group.h"
#include "loop.h"
#include "orphans.h"
#include "process.h"
#include "removals.h"
#include "reports.h"
#include "table.h"

enum {
    /// Descendants that are looked at in one turn, and how long that may take.
    LOOKS_PER_TURN = 64,
    TURN_NS = 1000000,
    /// Between two looks while processes do not end that were killed.
    PAUSE_MIN_MS = 5,
    PAUSE_MAX_MS = 640,
    /// How often an end waits for another look because others of its command ended during one.
    ROUNDS_MAX = 8,
    /// How often those of a command are killed one by one before their groups are.
    ROUNDS_BY_NUMBER = 2,
    /// Between two looks whether a command's group elsewhere may be killed.
    GROUP_PAUSE_NS = 10000000,
    UNTOLD_MAX = 32,
};

/// One that a look has found.
struct seen {
    pid_t pid;
    /// With the number it names one process for ever.
    uint64_t start_time;
    /// That of the command it is of, or 0.
    uint64_t command;
    bool is_stopped;
};

/// Sorted by number.
struct list {
    struct seen *all;
    size_t count, capacity;
};

static pid_t self;
static char own_group[GROUP_NAME_BYTES], tree_name[GROUP_NAME_BYTES];
static uint32_t own_session = UINT32_MAX;

/// What the last look has found, and the one under way.
static struct list known, found;

/// A look: who there is, then who of them descends from here, one after the other.
static enum { LOOK_NONE, LOOK_READS, LOOK_SORTS } look;
static struct clx_processes processes;
static int proc = -1;
/// The child of this process that each descends from, by place.
static size_t *tops;
static size_t next;
/// How many looks have begun. One that begins now sees all that there is.
static uint64_t look_count;
/// Whether some are to be killed, or are dying; and whether some were stopped, who may have started others before.
static bool has_dying, has_stopped;

static bool is_wanted;
/// When another look is due, or 0.
static uint64_t next_look_at;
static int pause_ms = PAUSE_MIN_MS;

/// A bit for the users of whose commands somebody was seen outside, and for others with the same remainder.
static uint64_t leavers[16];

/// Reports of those of no command, oldest first, in a ring; what does not fit is not told.
static struct executor_record untold[UNTOLD_MAX];
static size_t untold_first, untold_count;

// MARK: - What is known

/// Puts a child into a group, where it ends. Returns 0, or an errno and reaps it.
static int end_child_in(int folder, pid_t *child) {
    siginfo_t end = {0};
    *child = fork();
    if (*child < 0) return errno;
    if (*child == 0) _exit(group_write(folder, "cgroup.procs", "0"));
    while (waitid(P_PID, (id_t)*child, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
    const int error = end.si_code == CLD_EXITED ? end.si_status : ECHILD;
    if (error != 0) waitpid(*child, NULL, 0);
    return error;
}

/// The name of a group as /proc tells it, which no path is sure to show. It is seen at a child below it that is over, and runs
/// nothing: a command could be somewhere else by now.
static int learn_name(int folder, char name[GROUP_NAME_BYTES]) {
    char probe[32];
    pid_t child;
    // An earlier one may be removed at any time.
    snprintf(probe, sizeof probe, "probe-%llu", (unsigned long long)loop_now());
    if (mkdirat(folder, probe, 0755) < 0) return errno;
    const int below = openat(folder, probe, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (below < 0) return errno;
    int error = end_child_in(below, &child);
    if (error == 0) {
        char *end = process_group(child, name) ? strrchr(name, '/') : NULL;
        // A /proc of other processes would tell of any.
        error = end == NULL || strcmp(end + 1, probe) != 0 ? ENOENT : 0;
        if (error == 0) *end = '\0';
        waitpid(child, NULL, 0);
    }
    close(below);
    removals_add(probe);
    return error;
}

int strays_begin(int folder) {
    self = getpid();
    own_session = process_session(self);
    return process_group(self, own_group) ? learn_name(folder, tree_name) : ENOENT;
}

uint32_t strays_session(pid_t process) {
    const uint32_t session = process_session(process);
    // One that it has not got for itself tells nothing.
    return session == own_session ? UINT32_MAX : session;
}

/// Whether a group is another or below it.
static bool is_within(const char *name, const char *other) {
    const size_t length = strcmp(other, "/") == 0 ? 0 : strlen(other);
    return strncmp(name, other, length) == 0 && (name[length] == '/' || name[length] == '\0');
}

/// Whether a name is that of a command's group, or of one below it; `number` is that group's then.
static bool is_of_command(const char *name, uint64_t *number) {
    static const char word[] = "/command-";
    if (!is_within(name, tree_name)) return false;
    name += strlen(tree_name);
    if (strncmp(name, word, sizeof word - 1) != 0) return false;
    char *end;
    *number = strtoull(name + sizeof word - 1, &end, 10);
    return *end == '/' || *end == '\0';
}

/// The command that goes on and in whose group that of a name is, or NULL.
static struct command *command_of_group(const char *name) {
    uint64_t number;
    struct command *command = is_of_command(name, &number) ? command_in_group(number) : NULL;
    return command == NULL || command_is_over(command) ? NULL : command;
}

/// Whether a process runs the program of this one, also one that was replaced since: a closer that is at work does, though
/// who has made it has ended.
static bool runs_own_program(pid_t process) {
    static const char suffix[] = " (deleted)";
    char path[64], own[PATH_MAX], other[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    const ssize_t own_length = clx_proc_read_link("/proc/self/exe", own, sizeof own);
    ssize_t length = clx_proc_read_link(path, other, sizeof other);
    if (own_length <= 0 || length < own_length) return false;
    const size_t rest = (size_t)(length - own_length);
    if (rest == sizeof suffix - 1 && memcmp(other + own_length, suffix, rest) == 0) length = own_length;
    return length == own_length && memcmp(own, other, (size_t)length) == 0;
}

/// Whether a process in the group of this one belongs there: this one, what it has forked for itself, and a command whose
/// program does not run yet.
static bool is_own(pid_t process) {
    if (process == self || orphans_are_spared(process)) return true;
    const struct child *child = table_child(process);
    return child == NULL ? runs_own_program(process) : !child->has_started;
}

enum place strays_place(pid_t process, char group[GROUP_NAME_BYTES], struct command **command) {
    *command = NULL;
    if (!process_group(process, group)) return PLACE_NONE;
    *command = command_of_group(group);
    if (*command != NULL) return PLACE_INSIDE;
    return strcmp(group, own_group) == 0 && is_own(process) ? PLACE_OWN : PLACE_OUTSIDE;
}

static struct seen *find(const struct list *list, pid_t pid) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->all[middle].pid < pid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < list->count && list->all[low].pid == pid ? &list->all[low] : NULL;
}

static int add(struct list *list, struct seen seen) {
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct seen *all = realloc(list->all, capacity * sizeof *all);
        if (all == NULL) return ENOMEM;
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->count++] = seen;
    return 0;
}

/// With the rights of a user, where the signal is not for all.
static int send_as(uint32_t user, const struct seen *seen, int number) {
    const struct clx_process process = {.pid = seen->pid, .start_time = seen->start_time};
    return clx_process_signal_as(user, &process, number);
}

static int send(const struct seen *seen, int number) {
    return send_as(0, seen, number);
}

// MARK: - What is asked

/// Returns the number of the first look that sees everything that is there now.
static uint64_t ask(void) {
    is_wanted = true;
    pause_ms = PAUSE_MIN_MS;
    return look_count + 1;
}

static void ask_later(void) {
    if (is_wanted || next_look_at != 0) return;
    next_look_at = loop_now() + (uint64_t)pause_ms * 1000000;
    pause_ms = pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause_ms * 2;
}

void strays_look(void) {
    ask();
}

void strays_settle(struct command *command) {
    command->waits = WAITS_FOR_LOOK;
    command->waits_for = ask();
    command->was_stirred = false;
}

void strays_signal(struct command *command, int number) {
    if (number != SIGKILL) {
        ask();
        command->owed_signals |= UINT64_C(1) << (number - 1);
        return;
    }
    command->was_killed = true;
    command->owed_signals = command->passed_signals = 0;
    orphans_settle(command);
}

static void go_on(struct list *list, uint64_t command) {
    for (size_t i = 0; i < list->count; i++) {
        struct seen *seen = &list->all[i];
        if (seen->command != command || !seen->is_stopped) continue;
        send(seen, SIGCONT);
        seen->is_stopped = false;
    }
}

void strays_freeze(struct command *command, bool is_frozen) {
    // Those that are frozen with the group are not strays. A look stops the others.
    if (is_frozen) {
        ask();
        return;
    }
    go_on(&known, command->key);
    // The look under way may have stopped some already.
    go_on(&found, command->key);
}

// MARK: - Whose they are

static uint32_t wanted_session;
static pid_t wanted_leader;
static const struct seen *wanted_process;
static uint32_t wanted_user;
static struct command *claimant;

static void claim_by_session(struct command *command) {
    const bool is_its = command->main.session == wanted_session || command->handler.session == wanted_session;
    if (is_its && !command_is_over(command)) claimant = command;
}

static bool is_ending(const struct command *command) {
    return command->was_killed || command->waits != WAITS_NOT;
}

/// Each child of a command leads a session, which another process can only leave for one of its own (setsid(2)).
static void claim_by_leader(struct command *command) {
    const bool is_its = command->main.fork.pid == wanted_leader || command->handler.fork.pid == wanted_leader;
    if (is_its && !command_is_over(command)) claimant = command;
}

/// One of the same user that ran when the process started: the oldest that goes on, or else the oldest.
static void claim_by_user(struct command *command) {
    if (command_is_over(command) || command->user != wanted_user) return;
    if (command->began_at > wanted_process->start_time) return;
    if (claimant != NULL && is_ending(claimant) == is_ending(command) && claimant->began_at <= command->began_at) return;
    if (claimant != NULL && !is_ending(claimant) && is_ending(command)) return;
    claimant = command;
}

/// What a process says of itself is no evidence: its sessions are, and its parents, and what was seen before.
static struct command *owner_of(const struct seen *seen, pid_t top) {
    char name[GROUP_NAME_BYTES];
    claimant = NULL;
    wanted_session = strays_session(seen->pid);
    if (wanted_session != UINT32_MAX) command_each(claim_by_session);
    if (claimant != NULL) return claimant;
    const struct child *child = table_child(top);
    if (child != NULL) return child->command;
    wanted_leader = getsid(seen->pid);
    if (wanted_leader > 0) command_each(claim_by_leader);
    if (claimant != NULL) return claimant;
    if (process_group(top, name)) claimant = command_of_group(name);
    if (claimant != NULL) return claimant;
    const struct seen *before = find(&known, seen->pid);
    const bool is_same = before != NULL && before->start_time == seen->start_time && before->command != 0;
    if (is_same) claimant = command_find(before->command);
    if (claimant != NULL && !command_is_over(claimant)) return claimant;
    claimant = NULL;
    // One that is dying in the group of a command that is over is no other command's.
    uint64_t number;
    if (process_group(seen->pid, name) && is_of_command(name, &number)) return NULL;
    wanted_process = seen;
    if (process_user(seen->pid, &wanted_user)) command_each(claim_by_user);
    return claimant;
}

// MARK: - What is done with them

static uint64_t *leavers_of(uint32_t user, uint64_t *bit) {
    *bit = UINT64_C(1) << (user % 64);
    return &leavers[user / 64 % (sizeof leavers / sizeof leavers[0])];
}

static void remember_leaver(uint32_t user) {
    uint64_t bit;
    *leavers_of(user, &bit) |= bit;
}

bool strays_may_be_of(uint32_t user) {
    uint64_t bit;
    // Root needs nobody's help for that.
    return user == 0 || (*leavers_of(user, &bit) & bit) != 0;
}

static struct left left_of(const struct seen *seen, const char *group) {
    struct left left = {.pid = seen->pid, .user = UINT32_MAX, .moment = loop_now()};
    const size_t length = strlen(group), most = sizeof left.group - 1;
    process_user(seen->pid, &left.user);
    strcpy(left.group, length > most ? group + length - most : group);
    return left;
}

/// One of no command: nobody else would end it.
static void kill_unowned(const struct seen *seen, const char *group) {
    const struct seen *before = find(&known, seen->pid);
    const bool is_new = before == NULL || before->start_time != seen->start_time;
    send(seen, SIGKILL);
    has_dying = true;
    // It has left nothing: its command is over.
    if (is_within(group, tree_name)) return;
    const struct left left = left_of(seen, group);
    remember_leaver(left.user);
    if (!is_new || untold_count == UNTOLD_MAX) return;
    untold[(untold_first + untold_count++) % UNTOLD_MAX] = report_left(NULL, &left);
}

static void tell(struct command *command, const struct seen *seen, const char *group) {
    remember_leaver(command->user);
    if (command->left.pid != 0) return;
    command->left = left_of(seen, group);
    reports_add(command, REPORT_LEFT);
}

static void treat(struct command *command, struct seen *seen, const char *group) {
    command->strays++;
    tell(command, seen, group);
    if (is_ending(command)) {
        send(seen, SIGKILL);
        has_dying = true;
        return;
    }
    // That has had it already, wherever it is.
    const bool is_main = command->main.is_there && seen->pid == command->main.fork.pid;
    for (int i = 1; !is_main && i <= EXECUTOR_SIGNAL_MAX; i++) {
        if ((command->passed_signals >> (i - 1) & 1) != 0) send_as(command->user, seen, i);
    }
    const struct seen *before = find(&known, seen->pid);
    seen->is_stopped = before != NULL && before->start_time == seen->start_time && before->is_stopped;
    if (!command->wants_frozen || seen->is_stopped) return;
    const int error = send_as(command->user, seen, SIGSTOP);
    if (error == EPERM) return command_refuse_freeze(command);
    seen->is_stopped = error == 0;
    has_stopped = true;
}

/// Looks at one that descends from here. Returns 0 or an errno.
static int look_at(size_t place) {
    const struct clx_process *process = &processes.entries[place];
    char group[GROUP_NAME_BYTES];
    struct seen seen = {.pid = process->pid, .start_time = process->start_time};
    struct command *command;
    const pid_t top = processes.entries[tops[place]].pid;
    // What a child of this process's own has forked is its own, too.
    if (orphans_are_spared(top)) return 0;
    if (clx_process_is_dead(process) || strays_place(process->pid, group, &command) != PLACE_OUTSIDE) return 0;
    command = owner_of(&seen, top);
    if (command == NULL) {
        kill_unowned(&seen, group);
    } else {
        treat(command, &seen, group);
        seen.command = command->key;
    }
    return add(&found, seen);
}

// MARK: - Children of this process

/// Its number is no other's before it is reaped here, and with its start it is known from one look to the next.
static struct seen seen_child(pid_t child) {
    struct clx_process process;
    struct seen seen = {.pid = child, .start_time = UINT64_MAX};
    if (clx_process_read(child, &process)) seen.start_time = process.start_time;
    return seen;
}

struct command *strays_owner(pid_t process, pid_t top) {
    const struct seen seen = seen_child(process);
    return owner_of(&seen, top);
}

struct command *strays_found(pid_t child, const char *group) {
    const struct seen seen = seen_child(child);
    struct command *command = owner_of(&seen, child);
    if (command == NULL) {
        kill_unowned(&seen, group);
        ask();
        return NULL;
    }
    tell(command, &seen, group);
    if (is_ending(command)) strays_kill(command, child, group);
    // It stands still with its command.
    if (command->wants_frozen) ask();
    return command;
}

/// The way from the folder of the groups to a group. Returns false where this process or a command may be in that.
static bool path_to(const char *group, char path[2 * GROUP_NAME_BYTES]) {
    if (is_within(tree_name, group) || is_within(own_group, group) || is_within(group, tree_name)) return false;
    // Outside of what this process sees as the topmost.
    if (strncmp(group, "/..", 3) == 0) return false;
    size_t length = 0;
    for (const char *at = tree_name; *at != '\0'; at++) {
        if (at[0] != '/' || at[1] == '\0') continue;
        memcpy(path + length, "../", 3);
        length += 3;
    }
    strcpy(path + length, group + 1);
    return true;
}

void strays_kill_group(struct command *command, const char *group) {
    char path[2 * GROUP_NAME_BYTES];
    const uint64_t now = loop_now();
    if (!is_ending(command) || command->look_rounds < ROUNDS_BY_NUMBER || command->kills_group_at > now) return;
    if (!path_to(group, path)) return;
    elsewhere_kill(command, path);
    // Most of the time is for others.
    const uint64_t end = loop_now();
    command->kills_group_at = end + GROUP_PAUSE_NS + (end - now) * 4;
}

void strays_kill(struct command *command, pid_t child, const char *group) {
    kill(child, SIGKILL);
    // One by one they may be gone before they are found.
    strays_kill_group(command, group);
}

// MARK: - A look

static void prepare(struct command *command) {
    command->strays = 0;
    command->passed_signals |= command->owed_signals;
    command->owed_signals = 0;
}

static void begin_look(void) {
    is_wanted = has_dying = has_stopped = false;
    next_look_at = 0;
    look_count++;
    next = processes.count = found.count = 0;
    command_each(prepare);
    proc = clx_proc_open("/proc/", O_RDONLY | O_DIRECTORY);
    look = LOOK_READS;
}

static void drop_look(void) {
    if (proc >= 0) close(proc);
    proc = -1;
    clx_processes_free(&processes);
    free(tops);
    tops = NULL;
    look = LOOK_NONE;
}

/// A look is over: tells whether a command is.
static void conclude(struct command *command) {
    command->passed_signals = 0;
    if (command->waits != WAITS_FOR_LOOK || command->waits_for > look_count) return;
    if (command->strays > 0) {
        command->waits_for = look_count + 1;
    } else if (command->was_stirred && command->look_rounds++ < ROUNDS_MAX) {
        strays_settle(command);
    } else {
        command->waits = WAITS_NOT;
        command_strays_are_gone(command);
    }
}

static void end_look(void) {
    const struct list before = known;
    drop_look();
    known = found;
    found = before;
    found.count = 0;
    command_each(conclude);
    if (has_dying || has_stopped) ask_later();
}

/// There was no memory, or no descriptor: those who wait get a later one.
static void give_up(void) {
    drop_look();
    // Those that it has stopped are not known then; the next one stops them again.
    for (size_t i = 0; i < found.count; i++) {
        const struct seen *before = find(&known, found.all[i].pid);
        if (found.all[i].is_stopped && (before == NULL || !before->is_stopped)) send(&found.all[i], SIGCONT);
    }
    found.count = 0;
    ask_later();
}

/// The child of this process that each descends from, so that no line of parents is gone up twice.
static int find_tops(void) {
    const size_t none = SIZE_MAX, count = processes.count;
    tops = malloc((count + 1) * sizeof *tops);
    if (tops == NULL) return ENOMEM;
    for (size_t i = 0; i < count; i++) tops[i] = none;
    for (size_t i = 0; i < count; i++) {
        size_t top = i;
        // Each step is to a parent; the table is of one moment each, and so it may lead in a circle.
        for (size_t steps = 0; tops[top] == none && processes.entries[top].parent != self && steps < count; steps++) {
            const struct clx_process *parent = clx_processes_find(&processes, processes.entries[top].parent);
            if (parent == NULL) break;
            top = (size_t)(parent - processes.entries);
        }
        if (tops[top] != none) top = tops[top];
        for (size_t at = i; tops[at] == none;) {
            tops[at] = top;
            const struct clx_process *parent = clx_processes_find(&processes, processes.entries[at].parent);
            if (at == top || parent == NULL) break;
            at = (size_t)(parent - processes.entries);
        }
    }
    return 0;
}

static void read_some(void) {
    const int result = proc < 0 ? -EMFILE : clx_processes_read_more(&processes, proc);
    if (result > 0) return;
    if (result < 0) return give_up();
    close(proc);
    proc = -1;
    clx_processes_keep_descendants(&processes, self, NULL, 0);
    if (find_tops() != 0) return give_up();
    look = LOOK_SORTS;
}

static void look_at_some(void) {
    const uint64_t end = loop_now() + TURN_NS;
    for (int i = 0; next < processes.count; i++) {
        if (i == LOOKS_PER_TURN || loop_now() >= end) return;
        if (look_at(next++) != 0) return give_up();
    }
    end_look();
}

int strays_turn(void) {
    const uint64_t now = loop_now();
    if (look == LOOK_NONE && (is_wanted || (next_look_at != 0 && next_look_at <= now))) begin_look();
    if (look == LOOK_READS) {
        read_some();
    } else if (look == LOOK_SORTS) {
        look_at_some();
    }
    if (look != LOOK_NONE || is_wanted) return 0;
    if (next_look_at == 0) return -1;
    return next_look_at > now ? (int)((next_look_at - now + 999999) / 1000000) : 0;
}

const struct executor_record *strays_untold(void) {
    return untold_count > 0 ? &untold[untold_first] : NULL;
}

void strays_told(void) {
    untold_first = (untold_first + 1) % UNTOLD_MAX;
    untold_count--;
}
