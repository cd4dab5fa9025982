#include "reaping.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>

#include "CLinux.h"
#include "children.h"
#include "command.h"
#include "loop.h"
#include "orphans.h"
#include "releases.h"

enum {
    /// What one turn takes; and how long the kernel is asked for one after the other, which is too little to rest after.
    TURN_NS = 1000000,
    SHORT_NS = TURN_NS / 8,
    /// What one that has ended takes, about: less than it took to fork it, so that no rest is due for that.
    REAPING_NS = 20000,
    /// One who was stopped in between has not been busy.
    REST_MAX_NS = 50000000,
    /// How long one that is over may hide others from who asks for any.
    HIDING_NS = 2000000,
};

/// Whether a child may have ended that nobody has reaped. There may be some of before, where the program has run itself anew.
static bool may_have_ended = true;
/// Most of the time that goes into those who live is for others.
static uint64_t rests_until;
/// When a pass is due, or 0.
static uint64_t passes_at;
/// How many were reaped in this turn.
static uint64_t count;

/// The pass under way, if any.
static struct children list;
static bool is_passing;

void reaping_note(void) {
    may_have_ended = true;
}

/// The number of one that has ended, or 0. It can be looked at as long as it is not reaped.
static pid_t ended(idtype_t type, pid_t child) {
    siginfo_t end = {0};
    return waitid(type, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 ? end.si_pid : 0;
}

static void reap(pid_t child) {
    count++;
    if (command_reap(child)) return;
    orphans_end(child);
    releases_add(child);
}

/// Begins with a pass through all children; what ends from here on may be missed by it, and is told of by another SIGCHLD.
static bool begin_pass(void) {
    may_have_ended = false;
    children_restart(&list);
    // Whole, since what is reaped is taken out of it. That may happen meanwhile, by a thread, and hide others: it is noted then.
    while (!list.is_read) {
        if (children_read_on(&list) == 0) continue;
        may_have_ended = true;
        return false;
    }
    return true;
}

static void pass_on(uint64_t until) {
    for (pid_t child; (child = children_next(&list)) != 0;) {
        if (!releases_have(child) && ended(P_PID, child) != 0) reap(child);
        if (loop_now() >= until) return;
    }
    is_passing = false;
}

/// The kernel comes upon the same one until that is reaped. Usually it is in a moment, and that is noted; else those behind it are
/// looked for one by one.
static void reap_any(uint64_t until) {
    do {
        const pid_t child = ended(P_ALL, 0);
        may_have_ended = child != 0 && !releases_have(child);
        if (child == 0) passes_at = 0;
        else if (passes_at == 0 && children_are_listed()) passes_at = loop_now() + HIDING_NS;
        if (!may_have_ended) return;
        reap(child);
    } while (!children_are_listed() && loop_now() < until);
}

void reaping_turn(void) {
    const uint64_t begin = loop_now();
    const bool is_due = passes_at != 0 && begin >= passes_at;
    if ((!may_have_ended && !is_passing && !is_due) || begin < rests_until) return;
    count = 0;
    if (is_due && !is_passing) {
        passes_at = 0;
        is_passing = begin_pass();
    }
    if (is_passing) pass_on(begin + TURN_NS);
    else reap_any(begin + SHORT_NS);
    const uint64_t end = loop_now(), spent = end - begin, paid = count * REAPING_NS;
    const uint64_t rest = spent < paid + SHORT_NS ? 0 : (spent - paid) * 3;
    rests_until = end + (rest < REST_MAX_NS ? rest : REST_MAX_NS);
}

int reaping_wait(void) {
    const bool is_busy = may_have_ended || is_passing;
    if (!is_busy && passes_at == 0) return -1;
    const uint64_t now = loop_now(), due = is_busy || passes_at < rests_until ? rests_until : passes_at;
    return due > now ? (int)((due - now + 999999) / 1000000) : 0;
}
