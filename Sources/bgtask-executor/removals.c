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
static bool has_begun, is_busy;
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
    is_busy = true;
}

int removals_turn(void) {
    if (!is_busy) return -1;
    if (clx_remover_lacks_process(&remover, loop_now())) {
        const int closer = closers_make();
        say(closer < 0 ? errno : clx_remover_employ(&remover, closer));
    }
    is_busy = clx_remover_is_busy(&remover);
    return is_busy ? CLX_REMOVER_HELD_UP_MS : -1;
}

void removals_end(void) {
    removals_turn();
    if (has_begun) clx_remover_end(&remover, END_MS);
}
