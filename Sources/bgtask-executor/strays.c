#include "strays.h"

#include <errno.h>
#include <fcntl.h>
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
#include "readers.h"
#include "removals.h"
#include "reports.h"
#include "table.h"

enum {
    /// How long one turn may take.
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
    /// Where it was stopped, to let it go on: its pidfd. Otherwise -1.
    int stopped;
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

/// A look: who there is, then who of them descends from here and has left, some after the others.
static enum { LOOK_NONE, LOOK_READS, LOOK_SORTS } look;
static struct clx_processes processes;
/// The next page of them.
static struct clx_question page;
/// The child of this process that each descends from, by place.
static size_t *tops;
static size_t next;
/// Those that are looked at next, by place, with pidfds from before that look.
static struct clx_question batch;
/// How many: one at a time where all together have not been answered, and whether one alone was not either.
static uint32_t batch_max;
static bool is_partial;
static size_t batch_places[CLX_LOOK_MAX];
static int batch_pidfds[CLX_LOOK_MAX];
/// At most one of the two is asked for.
static struct asker asker;
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

/// Whether a process in the group of this one is known to belong there: this one, what it has forked for itself, and a command
/// whose program does not run yet.
static bool is_own(pid_t process) {
    const struct child *child = table_child(process);
    return process == self || orphans_are_spared(process) || (child != NULL && !child->has_started);
}

enum place strays_place(pid_t process, char group[GROUP_NAME_BYTES], struct command **command) {
    *command = NULL;
    if (!process_group(process, group)) return PLACE_NONE;
    *command = command_of_group(group);
    if (*command != NULL) return PLACE_INSIDE;
    if (strcmp(group, own_group) != 0) return PLACE_OUTSIDE;
    if (is_own(process)) return PLACE_OWN;
    return table_child(process) == NULL ? PLACE_UNSURE : PLACE_OUTSIDE;
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

static void let_go_on(struct seen *seen) {
    if (seen->stopped < 0) return;
    clx_pidfd_send_signal(seen->stopped, SIGCONT);
    close(seen->stopped);
    seen->stopped = -1;
}

static void go_on(struct list *list, uint64_t command) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->all[i].command == command) let_go_on(&list->all[i]);
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
static const struct clx_looked *wanted_process;
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
    if (command_is_over(command) || command->user != wanted_process->user) return;
    if (command->began_at > wanted_process->process.start_time) return;
    if (claimant != NULL && is_ending(claimant) == is_ending(command) && claimant->began_at <= command->began_at) return;
    if (claimant != NULL && !is_ending(claimant) && is_ending(command)) return;
    claimant = command;
}

/// One that a look has found before: its number and its start are those of one process for ever.
static struct seen *known_before(const struct clx_process *process) {
    struct seen *seen = find(&known, process->pid);
    return seen != NULL && seen->start_time == process->start_time ? seen : NULL;
}

struct command *strays_owner(const struct clx_looked *looked, pid_t top) {
    const pid_t process = looked->process.pid;
    char name[GROUP_NAME_BYTES];
    claimant = NULL;
    // What a process says of itself is no evidence: its sessions are, and its parents, and what was seen before.
    wanted_session = strays_session(process);
    if (wanted_session != UINT32_MAX) command_each(claim_by_session);
    if (claimant != NULL) return claimant;
    const struct child *child = table_child(top);
    if (child != NULL) return child->command;
    wanted_leader = getsid(process);
    if (wanted_leader > 0) command_each(claim_by_leader);
    if (claimant != NULL) return claimant;
    if (process_group(top, name)) claimant = command_of_group(name);
    if (claimant != NULL) return claimant;
    const struct seen *before = known_before(&looked->process);
    if (before != NULL && before->command != 0) claimant = command_find(before->command);
    if (claimant != NULL && !command_is_over(claimant)) return claimant;
    claimant = NULL;
    // One that is dying in the group of a command that is over is no other command's.
    uint64_t number;
    if (process_group(process, name) && is_of_command(name, &number)) return NULL;
    wanted_process = looked;
    if (looked->user != UINT32_MAX) command_each(claim_by_user);
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

static struct left left_of(const struct clx_looked *looked, const char *group) {
    struct left left = {.pid = looked->process.pid, .user = looked->user, .moment = loop_now()};
    const size_t length = strlen(group), most = sizeof left.group - 1;
    strcpy(left.group, length > most ? group + length - most : group);
    return left;
}

/// One of no command, which is killed: nobody else would end it.
static void tell_unowned(const struct clx_looked *looked, const char *group) {
    const bool is_new = known_before(&looked->process) == NULL;
    has_dying = true;
    // It has left nothing: its command is over.
    if (is_within(group, tree_name)) return;
    const struct left left = left_of(looked, group);
    remember_leaver(left.user);
    if (!is_new || untold_count == UNTOLD_MAX) return;
    untold[(untold_first + untold_count++) % UNTOLD_MAX] = report_left(NULL, &left);
}

static void tell(struct command *command, const struct clx_looked *looked, const char *group) {
    remember_leaver(command->user);
    if (command->left.pid != 0) return;
    command->left = left_of(looked, group);
    reports_add(command, REPORT_LEFT);
}

static void stop(struct command *command, struct seen *seen, int pidfd) {
    struct seen *before = find(&known, seen->pid);
    if (before != NULL && before->start_time == seen->start_time && before->stopped >= 0) {
        seen->stopped = before->stopped;
        before->stopped = -1;
    }
    if (!command->wants_frozen || seen->stopped >= 0) return;
    const int error = clx_signal_for(command->user, seen->pid, pidfd, SIGSTOP);
    if (error == EPERM) return command_refuse_freeze(command);
    // Without a descriptor for it, it is let go on at once.
    if (error == 0) seen->stopped = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
    if (error == 0 && seen->stopped < 0) clx_pidfd_send_signal(pidfd, SIGCONT);
    has_stopped = true;
}

static void treat(struct command *command, struct seen *seen, int pidfd) {
    command->strays++;
    if (is_ending(command)) {
        clx_pidfd_send_signal(pidfd, SIGKILL);
        has_dying = true;
        return;
    }
    // That has had it already, wherever it is.
    const bool is_main = command->main.is_there && seen->pid == command->main.fork.pid;
    for (int i = 1; !is_main && i <= EXECUTOR_SIGNAL_MAX; i++) {
        if ((command->passed_signals >> (i - 1) & 1) != 0) clx_signal_for(command->user, seen->pid, pidfd, i);
    }
    stop(command, seen, pidfd);
}

/// Looks at one that descends from here, through a pidfd that is of it. Returns 0 or an errno.
static int look_at(const struct clx_looked *looked, pid_t top, int pidfd) {
    const struct clx_process *process = &looked->process;
    char group[GROUP_NAME_BYTES];
    struct seen seen = {.pid = process->pid, .start_time = process->start_time, .stopped = -1};
    struct command *command;
    if (clx_process_is_dead(process)) return 0;
    const enum place place = strays_place(process->pid, group, &command);
    if (place != PLACE_OUTSIDE && (place != PLACE_UNSURE || looked->runs_same_program)) return 0;
    command = strays_owner(looked, top);
    if (command == NULL) {
        tell_unowned(looked, group);
        clx_pidfd_send_signal(pidfd, SIGKILL);
    } else {
        tell(command, looked, group);
        treat(command, &seen, pidfd);
        seen.command = command->key;
    }
    const int error = add(&found, seen);
    if (error != 0) let_go_on(&seen);
    return error;
}

// MARK: - Children of this process

struct command *strays_found(const struct clx_looked *looked, const char *group) {
    const pid_t child = looked->process.pid;
    struct command *command = strays_owner(looked, child);
    if (command == NULL) {
        tell_unowned(looked, group);
        // Its number is no other's before it is reaped here.
        kill(child, SIGKILL);
        ask();
        return NULL;
    }
    tell(command, looked, group);
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
    page = (struct clx_question){.kind = CLX_ASKS_PAGE};
    batch = (struct clx_question){.kind = CLX_ASKS_LOOK};
    batch_max = CLX_LOOK_MAX;
    is_partial = false;
    look = LOOK_READS;
}

static void drop_batch(void) {
    for (uint32_t i = 0; i < batch.count; i++) close(batch_pidfds[i]);
    batch.count = 0;
}

static void drop_look(void) {
    drop_batch();
    clx_processes_free(&processes);
    free(tops);
    tops = NULL;
    look = LOOK_NONE;
}

/// A look is over: tells whether a command is.
static void conclude(struct command *command) {
    command->passed_signals = 0;
    if (command->waits != WAITS_FOR_LOOK || command->waits_for > look_count) return;
    if (command->strays > 0 || is_partial) {
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
    // Those that were stopped and are not strays any more.
    for (size_t i = 0; i < found.count; i++) let_go_on(&found.all[i]);
    found.count = 0;
    command_each(conclude);
    if (has_dying || has_stopped) ask_later();
}

/// There was no memory, no descriptor or no answer: those who wait get a later one.
static void give_up(void) {
    drop_look();
    for (size_t i = 0; i < found.count; i++) {
        struct seen *seen = &found.all[i], *before = find(&known, seen->pid);
        const bool was_known = before != NULL && before->start_time == seen->start_time;
        // Those that are not known from before would not be known then; the next look stops them again.
        if (!was_known) let_go_on(seen);
        if (was_known && seen->stopped >= 0) before->stopped = seen->stopped;
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

static void take_page(const struct clx_answer *answer) {
    for (uint32_t i = 0; i < answer->count; i++) {
        if (clx_processes_add(&processes, &answer->all[i].process) != 0) return give_up();
    }
    page.from = answer->next;
    if (page.from != 0) return;
    clx_processes_keep_descendants(&processes, self, NULL, 0);
    if (find_tops() != 0) return give_up();
    look = LOOK_SORTS;
}

static void look_at_batch(const struct clx_answer *answer) {
    for (uint32_t i = 0; i < batch.count; i++) {
        const struct clx_looked *looked = &answer->all[i];
        const size_t place = batch_places[i];
        if (looked->process.pid == 0 || looked->process.start_time != processes.entries[place].start_time) continue;
        // It is not reaped yet, so that the answer is of the one that the descriptor is of.
        if (clx_pidfd_send_signal(batch_pidfds[i], 0) < 0) continue;
        if (look_at(looked, processes.entries[tops[place]].pid, batch_pidfds[i]) != 0) return give_up();
    }
    drop_batch();
}

/// Nobody could look at those. The others among them are looked at one by one, and the one that holds up who looks stays what it
/// was; another look comes.
static void pass_over(void) {
    if (batch.count > 1) {
        next = batch_places[0];
        batch_max = 1;
        drop_batch();
        return;
    }
    struct seen *before = known_before(&processes.entries[batch_places[0]]);
    has_dying = is_partial = true;
    drop_batch();
    if (before == NULL) return;
    if (add(&found, *before) != 0) return give_up();
    before->stopped = -1;
}

static void answered(const struct clx_answer *answer) {
    if (look == LOOK_SORTS && (answer->error != 0 || answer->count != batch.count)) {
        pass_over();
    } else if (answer->error != 0) {
        give_up();
    } else if (look == LOOK_READS) {
        take_page(answer);
    } else {
        look_at_batch(answer);
    }
}

/// Whether one that descends from here may have left. What a child of this process's own has forked is its own, too.
static bool may_be_stray(size_t place) {
    const struct clx_process *process = &processes.entries[place];
    char group[GROUP_NAME_BYTES];
    struct command *command;
    if (clx_process_is_dead(process) || orphans_are_spared(processes.entries[tops[place]].pid)) return false;
    const enum place where = strays_place(process->pid, group, &command);
    return where == PLACE_OUTSIDE || where == PLACE_UNSURE;
}

/// Puts those together that are looked at next. Returns false where some are left for a later turn.
static bool fill_batch(void) {
    const uint64_t end = loop_now() + TURN_NS;
    for (; next < processes.count && batch.count < batch_max; next++) {
        if (loop_now() >= end) return false;
        if (!may_be_stray(next)) continue;
        const int pidfd = clx_pidfd_open(processes.entries[next].pid);
        if (pidfd < 0 && errno == ESRCH) continue;
        if (pidfd < 0) {
            give_up();
            return false;
        }
        batch.pids[batch.count] = processes.entries[next].pid;
        batch_places[batch.count] = next;
        batch_pidfds[batch.count++] = pidfd;
    }
    return true;
}

/// Does what there is to do for the look under way. Returns the milliseconds until there is more, or -1: it waits for an answer.
static int go_on_with_look(void) {
    if (asker.question != 0) return -1;
    if (look == LOOK_SORTS && !fill_batch()) return 0;
    if (look == LOOK_SORTS && batch.count == 0) {
        end_look();
        return 0;
    }
    asker.answered = answered;
    return readers_ask(&asker, look == LOOK_READS ? &page : &batch) ? -1 : PAUSE_MIN_MS;
}

int strays_turn(void) {
    const uint64_t now = loop_now();
    if (look == LOOK_NONE && (is_wanted || (next_look_at != 0 && next_look_at <= now))) begin_look();
    if (look != LOOK_NONE) return go_on_with_look();
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
