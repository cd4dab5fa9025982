// A bound for what a thread that serves others waits for in the kernel without having asked for it.
//
// Who reads /proc/PID/stat while that process ends may be the last who has its memory, and lets go of what was mapped there on its
// way out of the read: of a TCP connection that lingers (SO_LINGER), say. Such a wait ends at a signal.
#ifndef CLINUX_WAITS_H
#define CLINUX_WAITS_H

/// From now on the calling thread gets SIGURG, which does nothing, every 20 ms between `clx_waits_begin` and `clx_waits_end`.
/// Nobody else has a use for that signal, and a program that is executed ignores it. Returns 0 or an errno.
int clx_bound_waits(void);

/// The calling thread begins something that should not wait. Costs nothing where the last end is less than 20 ms ago; does nothing
/// in a thread whose waits have no bound.
void clx_waits_begin(void);

/// The calling thread is about to wait for what it has asked for. One signal may follow.
void clx_waits_end(void);

#endif
