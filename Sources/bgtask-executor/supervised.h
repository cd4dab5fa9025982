// Commands whose processes have a supervisor each (home.h): what belongs to all of them.
#ifndef SUPERVISED_H
#define SUPERVISED_H

/// The supervisors keep `lock` open, and so whatever is locked by that, until the last one has ended.
void supervised_begin(int lock);

/// Kills what is left of commands whose supervisor is gone. Returns the milliseconds until it has to be called again, or -1.
int supervised_turn(void);

#endif
