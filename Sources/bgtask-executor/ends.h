// The ends that the daemon has not taken note of when the executor ends itself: on disk, for the next one.
#ifndef ENDS_H
#define ENDS_H

/// Opens the folder that they are kept in, for one executor alone, and takes back those that an earlier one left. A file that
/// no executor has written is put aside. Returns 0 or an errno; EBUSY where another executor has the folder.
int ends_open(const char *folder);

/// Waits until no process is left that an earlier executor has given that lock of the folder which this returns. Returns its
/// descriptor, or -1 with errno; EAGAIN where one does not end.
int ends_lock_for_children(void);

/// Writes down how each command that is not forgotten has ended, in the place of what was there. Returns 0 or an errno.
int ends_write(void);

/// One that was taken back is forgotten. What was there is removed with the last one.
void ends_forget_one(void);

#endif
