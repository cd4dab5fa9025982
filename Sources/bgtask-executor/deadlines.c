#include "deadlines.h"

#include <errno.h>
#include <stdlib.h>

static struct command **heap;
static long count, capacity, reserved;

static uint64_t earlier(uint64_t one, uint64_t other) {
    if (one == 0) return other;
    return other == 0 || one < other ? one : other;
}

uint64_t deadline_of(const struct command *command) {
    if (command->phase != PHASE_STARTING && command->phase != PHASE_RUNNING) return 0;
    return earlier(earlier(command->handler_at, command->limit_at), command->answer_by);
}

int deadlines_reserve(void) {
    if (reserved == capacity) {
        const long more = capacity == 0 ? 64 : capacity * 2;
        struct command **larger = realloc(heap, (size_t)more * sizeof *heap);
        if (larger == NULL) return ENOMEM;
        heap = larger;
        capacity = more;
    }
    reserved++;
    return 0;
}

static void put(struct command *command, long place) {
    heap[place] = command;
    command->place = place;
}

static void sift_up(long place) {
    struct command *command = heap[place];
    while (place > 0) {
        const long parent = (place - 1) / 2;
        if (deadline_of(heap[parent]) <= deadline_of(command)) break;
        put(heap[parent], place);
        place = parent;
    }
    put(command, place);
}

static void sift_down(long place) {
    struct command *command = heap[place];
    for (;;) {
        long child = 2 * place + 1;
        if (child >= count) break;
        if (child + 1 < count && deadline_of(heap[child + 1]) < deadline_of(heap[child])) child++;
        if (deadline_of(command) <= deadline_of(heap[child])) break;
        put(heap[child], place);
        place = child;
    }
    put(command, place);
}

static void take_out(struct command *command) {
    const long place = command->place;
    command->place = -1;
    count--;
    if (place == count) return;
    put(heap[count], place);
    sift_up(place);
    sift_down(heap[place]->place);
}

void deadlines_update(struct command *command) {
    if (deadline_of(command) == 0) {
        if (command->place >= 0) take_out(command);
        return;
    }
    if (command->place < 0) put(command, count++);
    sift_up(command->place);
    sift_down(command->place);
}

void deadlines_remove(struct command *command) {
    if (command->place >= 0) take_out(command);
    reserved--;
}

struct command *deadlines_first(void) {
    return count > 0 ? heap[0] : NULL;
}
