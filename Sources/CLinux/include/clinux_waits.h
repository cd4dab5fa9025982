// A bound for what a thread that serves others waits for in the kernel without having asked for it.
//
// Who reads /proc/PID/stat or status while that process ends may be the last who has its memory, and lets go of what was mapped there
// on its way out of the read: of a TCP connection that lingers (SO_LINGER), say. Such a wait ends at a signal.
#ifndef CLINUX_WAITS_H
#define CLINUX_WAITS_H

/// From here to `clx_waits_end` the calling thread gets SIGURG, which does nothing, every 2 ms. Outside it is blocked, so that
/// nothing else is interrupted. Pairs may stand inside of each other; the outermost costs four system calls. Where there is no
/// room for a timer (timer_create(2)), nothing is bounded. errno stays as it was.
void clx_waits_begin(void);
void clx_waits_end(void);

#endif
