#ifndef CLINUX_CLOSER_INTERNAL_H
#define CLINUX_CLOSER_INTERNAL_H

/// Has a process that was made as a closer remove what is named at a socket, below a folder. Takes over neither descriptor.
/// Returns 0 or an errno.
int clx_closer_become_remover(int closer, int folder, int names);

/// Removes what is named there, below the working folder, until nobody can name anything any more, or nobody has for some
/// time; and says so to `owner`, once for each. For a process of its own: async-signal-safe.
_Noreturn void clx_remover_work(int names, int owner);

#endif
