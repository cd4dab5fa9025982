// Children that have ended: those of commands, and those that commands have left to this process, which is their subreaper.
#ifndef REAPING_H
#define REAPING_H

/// One may have ended (SIGCHLD).
void reaping_note(void);

/// Reaps some. To be called in each turn.
void reaping_turn(void);

/// The milliseconds until there is more to reap, or -1.
int reaping_wait(void);

#endif
