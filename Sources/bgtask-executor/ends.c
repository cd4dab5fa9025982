#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "executor_record.h"

static int folder = -1;
/// The file that is being written, and the first errno of that.
static FILE *stream;
static int fault;

int ends_open(const char *path) {
    if (mkdir(path, 0700) < 0 && errno != EEXIST) return errno;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    const int file = openat(folder, "ends", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return errno == ENOENT ? 0 : errno;
    struct executor_record record;
    int error = 0;
    ssize_t length = 0;
    while (error == 0 && (length = read(file, &record, sizeof record)) == sizeof record) {
        const bool is_sound = record.magic == EXECUTOR_MAGIC && record.version == EXECUTOR_VERSION
                              && record.kind == EXECUTOR_ENTRY && record.command != 0;
        error = is_sound ? command_restore(&record) : EBADMSG;
    }
    if (error == 0 && length != 0) error = length < 0 ? errno : EBADMSG;
    close(file);
    return error;
}

static void write_one(struct command *command) {
    struct executor_record record = command_entry(command);
    if (fault == 0 && fwrite(&record, sizeof record, 1, stream) != 1) fault = errno;
}

int ends_write(void) {
    if (folder < 0) return 0;
    if (command_count() == 0) return unlinkat(folder, "ends", 0) < 0 && errno != ENOENT ? errno : 0;
    const int file = openat(folder, "ends.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno;
    stream = fdopen(file, "w");
    if (stream == NULL) {
        close(file);
        return ENOMEM;
    }
    fault = 0;
    command_each(write_one);
    // The old file stays where this one does not reach the disk.
    if (fflush(stream) != 0 && fault == 0) fault = errno;
    if (fsync(file) < 0 && fault == 0) fault = errno;
    if (fclose(stream) != 0 && fault == 0) fault = errno;
    if (fault == 0 && renameat(folder, "ends.new", folder, "ends") < 0) fault = errno;
    if (fault == 0 && fsync(folder) < 0) fault = errno;
    return fault;
}
