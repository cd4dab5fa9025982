// One epoll instance, in which each descriptor leads to who waits for it.
#ifndef LOOP_H
#define LOOP_H

#include <stddef.h>
#include <stdint.h>

/// Who waits for a descriptor. It has to stay where it is while it is watched.
struct source {
    void (*ready)(struct source *source, uint32_t events);
    int descriptor;
};

/// What a source is a field of.
#define OWNER(source, type, field) ((type *)(void *)((char *)(source) - offsetof(type, field)))

/// Returns 0 or an errno.
int loop_open(void);

/// Watches a descriptor for events of epoll_ctl(2). Returns 0 or an errno.
int loop_watch(struct source *source, int descriptor, uint32_t events);

/// Changes what is waited for.
void loop_change(struct source *source, uint32_t events);

/// Ends the watch; the descriptor stays open. Nothing where it is not watched.
void loop_forget(struct source *source);

/// Waits for what happens, so many milliseconds at most (-1: for ever), and passes it on.
void loop_turn(int milliseconds);

/// Nanoseconds on CLOCK_MONOTONIC.
uint64_t loop_now(void);

#endif
