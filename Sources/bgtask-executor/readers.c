#include "readers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "closers.h"
#include "loop.h"

static struct clx_readers readers;
static bool has_begun;
static struct source answers;
/// Those that have a question open.
static struct asker *asking;
/// When the next look is due; 0: never.
static uint64_t looks_at;
/// Why nobody answers, as was said last; 0: somebody does.
static int said;

static void say(int error) {
    if (error != 0 && error != said) fprintf(stderr, "bgtask-executor: nobody reads /proc: %s\n", strerror(error));
    said = error;
}

static struct asker *take(uint64_t question) {
    struct asker **place = &asking;
    while (*place != NULL && (*place)->question != question) place = &(*place)->next;
    struct asker *asker = *place;
    if (asker == NULL) return NULL;
    *place = asker->next;
    asker->question = 0;
    return asker;
}

void readers_hear(void) {
    static struct clx_answer answer;
    while (has_begun && clx_readers_hear(&readers, &answer)) {
        struct asker *asker = take(answer.number);
        if (asker != NULL) asker->answered(&answer);
    }
}

static void ready(struct source *source, uint32_t events) {
    (void)source;
    (void)events;
    readers_hear();
}

int readers_begin(void) {
    const int error = clx_readers_begin(&readers);
    answers.ready = ready;
    has_begun = error == 0;
    return error != 0 ? error : loop_watch(&answers, readers.questions[0], EPOLLIN);
}

bool readers_ask(struct asker *asker, const struct clx_question *question) {
    const uint64_t now = loop_now();
    if (asker->question != 0) return false;
    asker->question = clx_readers_ask(&readers, question, now);
    if (asker->question == 0) return false;
    asker->next = asking;
    asking = asker;
    const int pause = readers.count == 0 ? 0 : clx_readers_next_look(&readers);
    const uint64_t look = now + (uint64_t)pause * 1000000;
    if (looks_at == 0 || looks_at > look) looks_at = look;
    return true;
}

int readers_turn(void) {
    if (looks_at == 0) return -1;
    const uint64_t now = loop_now();
    if (looks_at > now) return (int)((looks_at - now + 999999) / 1000000);
    if (clx_readers_lack_process(&readers, now)) {
        const int closer = closers_make();
        say(closer < 0 ? errno : clx_readers_employ(&readers, closer));
    }
    const int pause = clx_readers_next_look(&readers);
    looks_at = pause < 0 ? 0 : now + (uint64_t)pause * 1000000;
    return pause;
}
