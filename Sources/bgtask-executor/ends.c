#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "brain.h"
#include "executor_record.h"
#include "reports.h"
#include "table.h"

// The file has the records of a list: a WELCOME with the owner and the boot, then of each command what LIST tells of it.

static int folder = -1;
/// What is locked of it.
static int lock_file = -1;
/// How many that are in the file are not forgotten.
static uint64_t restored;
/// The file that is being written, and the first errno of that.
static FILE *stream;
static int fault;

/// Moments of one boot mean nothing in another. Empty where it is not known.
static void read_boot(char boot[EXECUTOR_TEXT_BYTES]) {
    memset(boot, 0, EXECUTOR_TEXT_BYTES);
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (read(file, boot, EXECUTOR_TEXT_BYTES - 1) < 0) boot[0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    close(file);
}

/// How long it is waited for what an earlier executor has left. One that is a daemon's child kills all when that is gone.
enum { LEFTOVER_WAIT_MS = 3000, LEFTOVER_PAUSE_MS = 10 };

/// Locks the folder. Not by flock(2), whose locks are those of the children too before their program runs.
static int lock(void) {
    lock_file = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock_file < 0) return errno;
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    // It stays open for as long as the process is there.
    for (int waited = 0; fcntl(lock_file, F_SETLK, &all) < 0; waited += LEFTOVER_PAUSE_MS) {
        if (errno != EACCES && errno != EAGAIN) return errno;
        if (waited >= LEFTOVER_WAIT_MS) return EBUSY;
        poll(NULL, 0, LEFTOVER_PAUSE_MS);
    }
    return 0;
}

/// Leaves the file to those that cannot end. They were killed, and none of them runs a line of its program any more.
static int lock_anew(void) {
    fputs("bgtask-executor: processes of an earlier one were killed and cannot end\n", stderr);
    if (unlinkat(folder, "lock", 0) < 0 && errno != ENOENT) return errno;
    close(lock_file);
    return lock();
}

int ends_lock_for_children(void) {
    // That lock is beside the other one, and of all that have the open file.
    for (int waited = 0; flock(lock_file, LOCK_EX | LOCK_NB) < 0; waited += LEFTOVER_PAUSE_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR) return -1;
        if (waited >= LEFTOVER_WAIT_MS && (errno = lock_anew()) != 0) return -1;
        poll(NULL, 0, LEFTOVER_PAUSE_MS);
    }
    return lock_file;
}

static int restore_one(struct executor_record *record, bool is_same_boot) {
    if (!is_same_boot) record->moment = 0;
    if (record->kind == EXECUTOR_ENTRY) {
        const int error = record->command == 0 ? EBADMSG : command_restore(record);
        if (error == 0) restored++;
        return error;
    }
    struct command *command = command_find(record->command);
    if (command == NULL) return EBADMSG;
    report_restore(command, record);
    return 0;
}

static int restore(int file) {
    struct executor_record record;
    char boot[EXECUTOR_TEXT_BYTES];
    bool is_same_boot = false;
    read_boot(boot);
    for (bool is_first = true;; is_first = false) {
        const ssize_t length = read(file, &record, sizeof record);
        if (length == 0) return 0;
        if (length < 0) return errno;
        const bool is_sound = length == sizeof record && record.magic == EXECUTOR_MAGIC
                              && record.version == EXECUTOR_VERSION && (record.kind == EXECUTOR_WELCOME) == is_first;
        if (!is_sound) return EBADMSG;
        if (is_first) {
            brain_restore_owner(record.instance);
            is_same_boot = boot[0] != '\0' && memcmp(boot, record.text, sizeof boot) == 0;
            continue;
        }
        const int error = restore_one(&record, is_same_boot);
        if (error != 0) return error;
    }
}

int ends_open(const char *path) {
    if (mkdir(path, 0700) < 0 && errno != EEXIST) return errno;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno;
    int error = lock();
    if (error != 0) return error;
    const int file = openat(folder, "ends", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return errno == ENOENT ? 0 : errno;
    error = restore(file);
    close(file);
    if (error != EBADMSG) return error;
    // Nothing is known of them then, and the daemon takes them for interrupted.
    fputs("bgtask-executor: what was kept of ended commands cannot be read, and is put aside as ends.bad\n", stderr);
    return renameat(folder, "ends", folder, "ends.bad") < 0 ? errno : 0;
}

static void write_record(const struct executor_record *record) {
    if (fault == 0 && fwrite(record, sizeof *record, 1, stream) != 1) fault = errno;
}

/// Of what was cut off nobody asks, and what was left behind has not ended: its daemon takes it for interrupted.
static bool has_end(const struct command *command) {
    return command->cut_off_at == 0 && command_is_over(command);
}

static void write_one(struct command *command) {
    if (!has_end(command)) return;
    const unsigned reports = REPORT_ENTRY | reports_behind_entry(command);
    for (unsigned bit = 1; bit <= reports; bit <<= 1) {
        if ((reports & bit) == 0) continue;
        const struct executor_record record = report_record(command, (enum report)bit);
        write_record(&record);
    }
}

static void write_all(void) {
    struct executor_record first = {
        .magic = EXECUTOR_MAGIC, .version = EXECUTOR_VERSION, .kind = EXECUTOR_WELCOME};
    memcpy(first.instance, brain_owner(), sizeof first.instance);
    read_boot(first.text);
    write_record(&first);
    command_each(write_one);
}

static bool has_ends;

static void find_end(struct command *command) {
    if (has_end(command)) has_ends = true;
}

static int remove_file(void) {
    return unlinkat(folder, "ends", 0) < 0 && errno != ENOENT ? errno : 0;
}

int ends_write(void) {
    if (folder < 0) return 0;
    has_ends = false;
    command_each(find_end);
    if (!has_ends) return remove_file();
    const int file = openat(folder, "ends.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno;
    stream = fdopen(file, "w");
    if (stream == NULL) {
        close(file);
        return ENOMEM;
    }
    fault = 0;
    write_all();
    // The old file stays where this one does not reach the disk.
    if (fflush(stream) != 0 && fault == 0) fault = errno;
    if (fsync(file) < 0 && fault == 0) fault = errno;
    if (fclose(stream) != 0 && fault == 0) fault = errno;
    if (fault == 0 && renameat(folder, "ends.new", folder, "ends") < 0) fault = errno;
    if (fault == 0 && fsync(folder) < 0) fault = errno;
    return fault;
}

void ends_forget_one(void) {
    if (restored > 0 && --restored == 0) remove_file();
}
