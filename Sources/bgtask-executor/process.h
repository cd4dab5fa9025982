// What /proc tells of a process and holds nothing for (clinux_reader.h).
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The kernel tells no longer name (PATH_MAX).
enum { GROUP_NAME_BYTES = 4096 };

/// The name of its cgroup v2 group; `(unreadable)` where that is too long to be told. Returns false where it is gone, or
/// cannot be looked at.
bool process_group(pid_t process, char name[GROUP_NAME_BYTES]);

/// Its audit session, which is that of all it starts and can be changed by root alone; UINT32_MAX where it has none.
uint32_t process_session(pid_t process);

/// Now, as the start of a process is told: clock ticks since boot.
uint64_t process_ticks(void);

#endif
