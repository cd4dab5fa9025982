#ifndef CLINUX_CLOSER_INTERNAL_H
#define CLINUX_CLOSER_INTERNAL_H

#include <stdint.h>

/// Has a process that was made as a closer remove what is named at a socket, below a folder. Takes over neither descriptor.
/// Returns 0 or an errno.
int clx_closer_become_remover(int closer, int folder, int names);

/// Has one answer what is asked at a socket, under a number. It keeps the mount of /proc of who calls (clinux_proc.h). Takes over
/// neither descriptor. Returns 0 or an errno.
int clx_closer_become_reader(int closer, int questions, uint64_t number);

/// Answers what is asked there, until nobody can ask any more, or `owner` has something. For a process of its own:
/// async-signal-safe.
_Noreturn void clx_reader_work(int questions, int owner, uint64_t number);

/// Removes what is named there, below the working folder, until nobody can name anything any more, or nobody has for some
/// time; and says so to `owner`, once for each. For a process of its own: async-signal-safe.
_Noreturn void clx_remover_work(int names, int owner);

#endif
