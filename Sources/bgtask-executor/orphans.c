#include "orphans.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "children.h"
#include "loop.h"
#include "process.h"
#include "readers.h"
#include "releases.h"
#include "strays.h"
#include "table.h"

enum {
    /// How long one turn counts, and how many orphans of one command it looks at.
    TURN_NS = 1000000,
    LOOKS_PER_TURN = 64,
    /// How often a command's strays are looked for without a pause, first among all processes and then among the children.
    LOOKS_MAX = 8,
    ROUNDS_MAX = 64,
    /// After that a second passes between two looks for them.
    ROUND_MS = 1000,
    /// While those do not end that were killed, pauses grow to so many doublings of a millisecond.
    DOUBLINGS_MAX = 6,
    /// After a lack of memory.
    RETRY_MS = 10,
    /// After so long nobody waits for an answer who need not.
    ANSWER_MS = 10,
    /// A list of children that is read at each end; and how often a longer one is, where nobody waits for it.
    SHORT_BYTES = 1024,
    CHECK_MS = 1000,
};

struct orphan {
    pid_t pid;
    /// Forked by this process for itself; and whether that, or whose it is, is asked for.
    bool is_spared, is_asked;
    /// Whose it is, or NULL; it is in that one's list.
    struct command *command;
    struct orphan *next_of_command, **place_of_command;
    struct orphan *next;
};

static struct orphan *chains[1 << 12];

/// Counts begin with 1. One that begins now sees all that there is.
static uint64_t count_number;
static bool is_counting;
static struct children list;
/// How long it was in all, the last time.
static size_t last_length;
/// When the next count may begin, when the last one has, and when one is due that nobody waits for, or 0.
static uint64_t rests_until, counted_at, checks_at;

/// Those that wait for a count.
static struct command *waiting;

/// Of whom a count asks whose they are, before it goes on.
static struct clx_question unsure = {.kind = CLX_ASKS_LOOK};
static struct asker count_asker;
/// When that was asked, and whether the answer is late.
static uint64_t asked_at;
static bool is_late;

// MARK: - The table

static struct orphan **place_of(pid_t pid) {
    struct orphan **place = &chains[(uint32_t)pid % (sizeof chains / sizeof chains[0])];
    while (*place != NULL && (*place)->pid != pid) place = &(*place)->next;
    return place;
}

static struct orphan *enter(pid_t pid) {
    struct orphan **place = place_of(pid);
    struct orphan *orphan = calloc(1, sizeof *orphan);
    if (orphan == NULL) return NULL;
    orphan->pid = pid;
    *place = orphan;
    return orphan;
}

static void give(struct orphan *orphan, struct command *command) {
    orphan->command = command;
    if (command == NULL) return;
    orphan->next_of_command = command->orphans;
    orphan->place_of_command = &command->orphans;
    if (command->orphans != NULL) command->orphans->place_of_command = &orphan->next_of_command;
    command->orphans = orphan;
}

static void take(struct orphan *orphan) {
    if (orphan->command == NULL) return;
    *orphan->place_of_command = orphan->next_of_command;
    if (orphan->next_of_command != NULL) orphan->next_of_command->place_of_command = orphan->place_of_command;
    orphan->command = NULL;
}

/// Takes out one that is there.
static void drop(struct orphan **place) {
    struct orphan *orphan = *place;
    take(orphan);
    *place = orphan->next;
    free(orphan);
}

int orphans_spare(pid_t child) {
    struct orphan *orphan = enter(child);
    if (orphan == NULL) return ENOMEM;
    orphan->is_spared = true;
    return 0;
}

bool orphans_are_spared(pid_t child) {
    const struct orphan *orphan = *place_of(child);
    return orphan != NULL && orphan->is_spared;
}

void orphans_forget(struct command *command) {
    // Those that live on are looked at by the next count as nobody's: they may be elsewhere by then.
    while (command->orphans != NULL) drop(place_of(command->orphans->pid));
    for (struct command **place = &waiting; *place != NULL; place = &(*place)->next_waiting) {
        if (*place != command) continue;
        *place = command->next_waiting;
        return;
    }
}

// MARK: - Who waits

static void wait_for_count(struct command *command, uint64_t milliseconds) {
    command->waits = WAITS_FOR_COUNT;
    command->waits_for = count_number + 1;
    command->counts_at = milliseconds == 0 ? 0 : loop_now() + milliseconds * 1000000;
    command->was_stirred = false;
    command->next_waiting = waiting;
    waiting = command;
}

/// Whether strays of a command come and go faster than they are found, or do not end.
static bool are_in_doubt(const struct command *command) {
    return command->waits != WAITS_NOT && command->look_rounds > ROUNDS_MAX;
}

/// One of a command has ended, and may have left others meanwhile.
static void stir(struct command *command) {
    command->was_stirred = true;
    // Beyond that it is looked for at times.
    if (!are_in_doubt(command)) command->counts_at = 0;
}

/// A child is over with all its threads that was not known as a command's.
static void has_ended(pid_t child) {
    char group[GROUP_NAME_BYTES];
    struct command *command;
    struct clx_looked looked;
    const enum place place = strays_place(child, group, &command);
    const bool has_left = place == PLACE_OUTSIDE || place == PLACE_UNSURE;
    if (has_left) {
        // Nothing is left of it that a look could hold.
        clx_look(child, &looked);
        looked.process.pid = child;
        command = strays_owner(&looked, child);
    }
    if (command == NULL) return;
    stir(command);
    if (has_left) strays_kill_group(command, group);
}

enum state { STATE_LIVES, STATE_OVER, STATE_NO_CHILD };

/// Whether a child is over with all its threads, also where a tracer keeps that to itself.
static enum state state_of(pid_t child) {
    struct clx_exit end;
    const int seen = clx_end_of(child, &end);
    if (seen != 0) return seen > 0 ? STATE_OVER : STATE_NO_CHILD;
    struct pollfd ended = {.fd = clx_pidfd_open(child), .events = POLLIN};
    const bool is_over = ended.fd >= 0 && poll(&ended, 1, 0) > 0;
    if (ended.fd >= 0) close(ended.fd);
    return is_over ? STATE_OVER : STATE_LIVES;
}

/// Another count shows who was missed, or has left nevertheless.
static void check_later(void) {
    if (checks_at == 0) checks_at = counted_at + (uint64_t)CHECK_MS * 1000000;
}

void orphans_end(pid_t child) {
    struct orphan **place = place_of(child), *orphan = *place;
    // The list is shorter from here on, and what has not been read of it yet is read at the wrong place.
    if (is_counting && !list.is_read) check_later();
    const bool is_known = orphan != NULL && !orphan->is_asked;
    if (is_known && orphan->command != NULL) stir(orphan->command);
    if (orphan != NULL) drop(place);
    if (!is_known && (waiting != NULL || !children_are_listed())) has_ended(child);
}

// MARK: - An end

enum left_behind { LEFT_NOBODY, LEFT_DYING, LEFT_SOMEBODY };

/// What is left of a command that has no child and nobody in its group.
static enum left_behind look_at_those_of(struct command *command) {
    enum left_behind left = LEFT_NOBODY;
    struct orphan *orphan = command->orphans, *next;
    for (int i = 0; orphan != NULL && i < LOOKS_PER_TURN; i++, orphan = next) {
        char group[GROUP_NAME_BYTES];
        struct command *other;
        next = orphan->next_of_command;
        // Of a child that is over nobody is left behind: its own children are this process's.
        if (state_of(orphan->pid) != STATE_LIVES) {
            take(orphan);
            command->was_stirred = true;
            continue;
        }
        const enum place place = strays_place(orphan->pid, group, &other);
        if (place == PLACE_OUTSIDE || place == PLACE_UNSURE) {
            strays_kill(command, orphan->pid, group);
            left = LEFT_SOMEBODY;
        } else if (left == LEFT_NOBODY) {
            // A group is empty before its last process is over.
            left = LEFT_DYING;
        }
    }
    return left == LEFT_NOBODY && orphan != NULL ? LEFT_DYING : left;
}

/// How long a command waits for the next count, unless one of it ends before.
static uint64_t pause_after(const struct command *command) {
    if (are_in_doubt(command)) return ROUND_MS;
    if (command->was_stirred) return 0;
    const int doublings = command->look_rounds < DOUBLINGS_MAX ? command->look_rounds : DOUBLINGS_MAX;
    return UINT64_C(1) << doublings;
}

static void conclude(struct command *command) {
    const enum left_behind left = look_at_those_of(command);
    if (left == LEFT_NOBODY && !command->was_stirred) {
        command->waits = WAITS_NOT;
        command_strays_are_gone(command);
        return;
    }
    command->look_rounds++;
    // Those whose parents live are no children of this process.
    const bool is_rare = command->look_rounds <= LOOKS_MAX || are_in_doubt(command);
    if (left == LEFT_SOMEBODY && is_rare) strays_look();
    wait_for_count(command, pause_after(command));
}

static void conclude_all(void) {
    const uint64_t now = loop_now();
    struct command *command = waiting, *next;
    waiting = NULL;
    for (; command != NULL; command = next) {
        next = command->next_waiting;
        if (command->waits_for <= count_number && command->counts_at <= now) {
            conclude(command);
            continue;
        }
        command->next_waiting = waiting;
        waiting = command;
    }
}

/// Where there are many children, or some are looked at that hold up who looks, those need not wait whose users have nobody outside,
/// as far as is known.
static bool need_not_wait(const struct command *command) {
    return (last_length > SHORT_BYTES || is_late) && !command->was_killed && !strays_may_be_of(command->user);
}

void orphans_settle(struct command *command) {
    if (command->waits != WAITS_NOT) {
        command->counts_at = 0;
        return;
    }
    command->look_rounds = 0;
    if (!children_are_listed()) {
        strays_settle(command);
        return;
    }
    if (need_not_wait(command)) {
        check_later();
        command_strays_are_gone(command);
        return;
    }
    wait_for_count(command, 0);
    // Where there are many, those that come to their end in one turn are counted together.
    if (last_length <= SHORT_BYTES && !is_counting) orphans_turn();
}

// MARK: - A count

static void fail(void) {
    is_counting = false;
    rests_until = loop_now() + (uint64_t)RETRY_MS * 1000000;
    for (struct command *command = waiting; command != NULL; command = command->next_waiting) {
        command->waits_for = count_number + 1;
    }
}

static void let_go(void) {
    struct command *command = waiting, *next;
    waiting = NULL;
    for (; command != NULL; command = next) {
        next = command->next_waiting;
        if (need_not_wait(command)) {
            command->waits = WAITS_NOT;
            command_strays_are_gone(command);
            continue;
        }
        command->next_waiting = waiting;
        waiting = command;
    }
}

/// Returns false where there is no memory.
static bool note(pid_t child) {
    char group[GROUP_NAME_BYTES];
    struct command *command;
    if (table_child(child) != NULL || *place_of(child) != NULL || releases_have(child)) return true;
    // It may have been reaped since the list was read, and the number be another's.
    const enum state state = state_of(child);
    const enum place place = state == STATE_NO_CHILD ? PLACE_NONE : strays_place(child, group, &command);
    if (place == PLACE_OWN || place == PLACE_NONE) return true;
    struct orphan *orphan = enter(child);
    if (orphan == NULL) return false;
    if (state == STATE_OVER) {
        // The next count shows whom it has left; when it is reaped does not matter then.
        has_ended(child);
    } else if (place == PLACE_INSIDE) {
        give(orphan, command);
    } else {
        orphan->is_asked = true;
        unsure.pids[unsure.count++] = child;
    }
    return true;
}

/// What there is to know where nobody could look: whose it is now.
static struct clx_looked guess_at(pid_t child) {
    char path[32];
    struct stat folder;
    struct clx_looked guess = {.process = {.pid = child, .start_time = UINT64_MAX}, .user = UINT32_MAX};
    snprintf(path, sizeof path, "/proc/%d", child);
    if (clx_proc_stat(path, &folder) == 0) guess.user = folder.st_uid;
    return guess;
}

/// Of one that lives. Returns false where it is not known whether it belongs here.
static bool place_unsure(struct orphan *orphan, const struct clx_looked *looked) {
    char group[GROUP_NAME_BYTES];
    struct command *command;
    const enum place place = strays_place(orphan->pid, group, &command);
    const bool is_guess = looked->process.start_time == UINT64_MAX;
    if (place == PLACE_NONE || (place == PLACE_UNSURE && is_guess)) return false;
    const bool is_own = place == PLACE_OWN || (place == PLACE_UNSURE && looked->runs_same_program);
    orphan->is_spared = is_own;
    if (place == PLACE_OUTSIDE || (place == PLACE_UNSURE && !is_own)) command = strays_found(looked, group);
    give(orphan, command);
    return true;
}

static void count_answered(const struct clx_answer *answer) {
    is_late = false;
    for (uint32_t i = 0; i < unsure.count; i++) {
        // One that has ended meanwhile is not there any more.
        struct orphan **entry = place_of(unsure.pids[i]), *orphan = *entry;
        if (orphan == NULL || !orphan->is_asked) continue;
        orphan->is_asked = false;
        if (state_of(orphan->pid) != STATE_LIVES) {
            has_ended(orphan->pid);
            continue;
        }
        const bool is_seen = i < answer->count && answer->all[i].process.pid != 0;
        const struct clx_looked looked = is_seen ? answer->all[i] : guess_at(orphan->pid);
        if (place_unsure(orphan, &looked)) continue;
        // It is new to the next count.
        drop(entry);
        check_later();
    }
    unsure.count = 0;
}

/// Asks for those of whom that is not known yet. Returns whether there are any.
static bool ask_for_unsure(void) {
    if (unsure.count == 0) return false;
    count_asker.answered = count_answered;
    asked_at = loop_now();
    // Where that cannot be now, in a later turn.
    readers_ask(&count_asker, &unsure);
    return true;
}

/// Returns 0 or an errno.
static int read_on(void) {
    const int error = children_read_on(&list);
    if (error == 0 && list.is_read) last_length = list.length;
    return error;
}

static void begin_count(void) {
    const uint64_t begin = loop_now();
    counted_at = begin;
    is_counting = true;
    count_number++;
    children_restart(&list);
    const bool is_settled = releases_settle();
    // Who becomes a child is put at the end of the list, and nobody is taken out of it then. So it is read whole for those that wait.
    while (!list.is_read && waiting != NULL) {
        if (read_on() != 0) return fail();
    }
    const uint64_t end = loop_now();
    // The kernel takes the longer the more there are: most of the time is for others.
    rests_until = end + (end - begin) * 3;
    checks_at = 0;
    if (!is_settled) check_later();
    let_go();
}

/// Returns whether it goes on at once.
static bool count_some(void) {
    const uint64_t end = loop_now() + TURN_NS;
    if (unsure.count == CLX_LOOK_MAX && ask_for_unsure()) return false;
    for (pid_t child; (child = children_next(&list)) != 0;) {
        if (!note(child)) {
            fail();
            return false;
        }
        if (loop_now() >= end || unsure.count == CLX_LOOK_MAX) return true;
    }
    if (!list.is_read) {
        if (!releases_settle()) check_later();
        if (read_on() != 0) fail();
        return is_counting;
    }
    if (ask_for_unsure()) return false;
    is_counting = false;
    conclude_all();
    return false;
}

/// A count waits for an answer. Returns the milliseconds after which that is late, or -1.
static int wait_for_answer(void) {
    const uint64_t now = loop_now(), due = asked_at + (uint64_t)ANSWER_MS * 1000000;
    if (is_late || count_asker.question == 0) return is_late ? -1 : RETRY_MS;
    if (due > now) return (int)((due - now + 999999) / 1000000);
    is_late = true;
    check_later();
    let_go();
    return -1;
}

int orphans_turn(void) {
    if (is_counting && count_asker.question == 0 && count_some()) return 0;
    if (is_counting) return wait_for_answer();
    uint64_t due = checks_at == 0 ? UINT64_MAX : checks_at;
    for (const struct command *command = waiting; command != NULL; command = command->next_waiting) {
        if (command->counts_at < due) due = command->counts_at;
    }
    if (due == UINT64_MAX) return -1;
    if (due < rests_until) due = rests_until;
    const uint64_t now = loop_now();
    if (due > now) return (int)((due - now + 999999) / 1000000);
    begin_count();
    const bool goes_on = is_counting && count_some();
    // Whoever waits still has to wait for the next turn.
    return goes_on || is_counting || waiting != NULL ? 0 : -1;
}
