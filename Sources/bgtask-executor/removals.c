#include "removals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "CLinux.h"
#include "closers.h"
#include "loop.h"

enum { END_MS = 1000 };

static struct clx_remover remover;
static bool has_begun;
/// When the next look is due; 0: never.
static uint64_t looks_at;
/// Why groups stay, as was said last; 0: none does.
static int said;

static void say(int error) {
    if (error != 0 && error != said) fprintf(stderr, "bgtask-executor: groups stay: %s\n", strerror(error));
    said = error;
}

int removals_begin(int tree) {
    const int error = clx_remover_begin(&remover, tree);
    has_begun = error == 0;
    return error;
}

void removals_add(const char *name) {
    say(clx_remover_remove(&remover, name));
    looks_at = loop_now();
}

int removals_turn(void) {
    if (looks_at == 0) return -1;
    const uint64_t now = loop_now();
    if (looks_at > now) return (int)((looks_at - now + 999999) / 1000000);
    if (clx_remover_lacks_process(&remover, now)) {
        const int closer = closers_make();
        say(closer < 0 ? errno : clx_remover_employ(&remover, closer));
    }
    const int pause = clx_remover_next_look(&remover);
    looks_at = pause < 0 ? 0 : now + (uint64_t)pause * 1000000;
    return pause;
}

void removals_end(void) {
    if (looks_at != 0) looks_at = loop_now();
    removals_turn();
    if (has_begun) clx_remover_end(&remover, END_MS);
}
