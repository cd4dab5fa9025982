// The ends that the daemon has not taken note of when the executor ends itself: on disk, for the next one.
#ifndef ENDS_H
#define ENDS_H

/// Opens the folder that they are kept in, which is nobody else's, and takes back those that an earlier executor left.
/// Returns 0 or an errno; EBADMSG where the file is not one that an executor has written.
int ends_open(const char *folder);

/// Writes down how each command that is not forgotten has ended, in the place of what was there. Returns 0 or an errno.
int ends_write(void);

#endif
