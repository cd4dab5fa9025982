#include "clinux_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clinux_calls.h"
#include "clinux_proc.h"
#include "clinux_waits.h"

struct directory_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

// MARK: - The table

static int make_room(struct clx_processes *processes) {
    if (processes->count < processes->capacity) return 0;
    size_t capacity = processes->capacity == 0 ? 512 : processes->capacity * 2;
    size_t bytes = capacity * sizeof *processes->entries;
    // Not mremap(2), which ThreadSanitizer does not follow.
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return errno;
    if (processes->capacity > 0) {
        size_t used = processes->capacity * sizeof *processes->entries;
        memcpy(memory, processes->entries, used);
        munmap(processes->entries, used);
    }
    processes->entries = memory;
    processes->capacity = capacity;
    return 0;
}

void clx_processes_free(struct clx_processes *processes) {
    if (processes->capacity > 0) {
        munmap(processes->entries, processes->capacity * sizeof *processes->entries);
    }
    *processes = (struct clx_processes){0};
}

/// Fields 3 (state), 4 (parent), 20 (threads) and 22 (start time) of proc_pid_stat(5). The name before them,
/// in parentheses, is the process's own choice and may hold anything.
static bool parse_status(char *text, struct clx_process *process, long *threads) {
    char *field = strrchr(text, ')');
    if (field == NULL || field[1] != ' ') return false;
    field += 2;
    process->state = *field;
    for (int number = 3; number < 22; number++) {
        if (number == 4) process->parent = (pid_t)strtol(field, NULL, 10);
        if (number == 20) *threads = strtol(field, NULL, 10);
        field = strchr(field, ' ');
        if (field == NULL) return false;
        field++;
    }
    process->start_time = strtoull(field, NULL, 10);
    return true;
}

/// Reads the begin of a file for which the kernel holds the memory of a process. Returns its length, or -1.
static ssize_t read_text(const char *path, char *text, size_t capacity) {
    clx_waits_begin();
    const int file = clx_proc_open(path, O_RDONLY);
    const ssize_t length = file < 0 ? -1 : read(file, text, capacity - 1);
    if (file >= 0) close(file);
    clx_waits_end();
    text[length < 0 ? 0 : length] = '\0';
    return length;
}

static bool read_status(const char *path, struct clx_process *process, long *threads) {
    char text[1024];
    return read_text(path, text, sizeof text) > 0 && parse_status(text, process, threads);
}

/// The state of one of the threads that are left of a process whose first thread has exited: that one alone is a zombie then.
/// A tracer can keep any number of others as zombies. Some are looked at, and where there are more it passes for alive.
static char state_of_threads(pid_t pid) {
    // About twenty threads.
    _Alignas(struct directory_entry) char buffer[512];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    const int folder = clx_proc_open(path, O_RDONLY | O_DIRECTORY);
    if (folder < 0) return 'Z';
    const long length = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    for (long at = 0; at < length;) {
        const struct directory_entry *entry = (const void *)(buffer + at);
        struct clx_process thread;
        long threads;
        at += entry->length;
        if (entry->name[0] < '1' || entry->name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", pid, entry->name);
        if (!read_status(path, &thread, &threads) || thread.state == 'Z') continue;
        close(folder);
        return thread.state;
    }
    const bool has_more = length > 0 && syscall(SYS_getdents64, folder, buffer, sizeof buffer) > 0;
    close(folder);
    return has_more ? 'S' : 'Z';
}

// What is said of the first thread: for the whole process the kernel goes through all threads, which takes the longer the
// more of them a tracer keeps as zombies, and holds the memory meanwhile.
bool clx_process_read(pid_t pid, struct clx_process *process) {
    char path[64];
    long threads = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, pid);
    *process = (struct clx_process){.pid = pid};
    if (!read_status(path, process, &threads)) return false;
    if (process->state == 'Z' && threads > 1) process->state = state_of_threads(pid);
    return true;
}

int clx_processes_add(struct clx_processes *processes, const struct clx_process *process) {
    const int error = make_room(processes);
    if (error == 0) processes->entries[processes->count++] = *process;
    return error;
}

static int read_entries(struct clx_processes *processes, const char *buffer, long length) {
    for (long at = 0; at < length;) {
        const struct directory_entry *entry = (const void *)(buffer + at);
        at += entry->length;
        if (entry->name[0] < '1' || entry->name[0] > '9') continue;
        int error = make_room(processes);
        if (error != 0) return error;
        struct clx_process *process = &processes->entries[processes->count];
        if (clx_process_read((pid_t)strtol(entry->name, NULL, 10), process)) processes->count++;
    }
    return 0;
}

/// Reads some more of them from an open /proc. Returns 1, 0 at the end, or minus an errno.
static int read_more(struct clx_processes *processes, int folder) {
    // About fifty processes.
    _Alignas(struct directory_entry) char buffer[1536];
    const long length = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    if (length < 0) return -errno;
    if (length == 0) return 0;
    const int error = read_entries(processes, buffer, length);
    return error == 0 ? 1 : -error;
}

int clx_processes_read(struct clx_processes *processes) {
    processes->count = 0;
    const int folder = clx_proc_open("/proc/", O_RDONLY | O_DIRECTORY);
    if (folder < 0) return errno;
    int result;
    do {
        result = read_more(processes, folder);
    } while (result > 0);
    close(folder);
    return -result;
}

// MARK: - Descent

/// /proc lists processes by rising pid (proc_pid_readdir), so that the table is sorted.
const struct clx_process *clx_processes_find(
    const struct clx_processes *processes, pid_t pid) {
    size_t low = 0, high = processes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (processes->entries[middle].pid < pid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == processes->count || processes->entries[low].pid != pid) return NULL;
    return &processes->entries[low];
}

static bool is_listed(pid_t pid, const pid_t *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == pid) return true;
    }
    return false;
}

void clx_processes_keep_descendants(
    struct clx_processes *processes, pid_t root, const pid_t *excluded, size_t excluded_count) {
    // Parents mostly have the lower pid, so that the second pass mostly finds nothing new.
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < processes->count; i++) {
            struct clx_process *process = &processes->entries[i];
            if (process->is_descendant || process->pid == root) continue;
            const struct clx_process *parent = clx_processes_find(processes, process->parent);
            bool descends = process->parent == root || (parent != NULL && parent->is_descendant);
            if (!descends || is_listed(process->pid, excluded, excluded_count)) continue;
            process->is_descendant = true;
            found = true;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->entries[i].is_descendant) {
            processes->entries[kept++] = processes->entries[i];
        }
    }
    processes->count = kept;
}

bool clx_processes_contain(
    const struct clx_processes *processes, const struct clx_process *process) {
    const struct clx_process *found = clx_processes_find(processes, process->pid);
    return found != NULL && found->start_time == process->start_time;
}

// MARK: - Signals

// Its effective uid tells that of most, and holds nothing: to write the status of one in 65,536 groups takes milliseconds.
uid_t clx_process_user(pid_t pid) {
    char path[64];
    struct stat folder;
    uint64_t user;
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (clx_proc_stat(path, &folder) == 0 && folder.st_uid != 0) return folder.st_uid;
    // A program that gets root's rights at its execve(2) is its user's still. What it has mapped is not of that user's choice.
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    const int file = clx_proc_open(path, O_RDONLY);
    const bool is_there = file >= 0 && clx_number_after(file, "Uid:", &user) == 1 && user < UINT32_MAX;
    if (file >= 0) close(file);
    return is_there ? (uid_t)user : UINT32_MAX;
}

int clx_signal_for(uid_t user, pid_t pid, int pidfd, int number) {
    const bool is_for_all = number != 0 && clx_signal_is_for_all(number);
    const bool is_allowed = user == 0 || is_for_all || clx_process_user(pid) == user;
    if (clx_pidfd_send_signal(pidfd, is_allowed ? number : 0) < 0) return errno;
    return is_allowed ? 0 : EPERM;
}

int clx_process_signal_as(uid_t user, const struct clx_process *process, int number) {
    int pidfd = clx_pidfd_open(process->pid);
    if (pidfd < 0) return errno;
    // The descriptor is of whoever has the pid now; the start time says whether that is the one.
    struct clx_process now;
    const bool is_same = clx_process_read(process->pid, &now) && now.start_time == process->start_time;
    const int error = is_same ? clx_signal_for(user, process->pid, pidfd, number) : ESRCH;
    close(pidfd);
    return error;
}

int clx_process_signal(const struct clx_process *process, int number) {
    return clx_process_signal_as(0, process, number);
}

bool clx_signal_is_for_all(int number) {
    return number == SIGTERM || number == SIGCONT || number == SIGKILL;
}

bool clx_process_is_dead(const struct clx_process *process) {
    return process->state == 'Z' || process->state == 'X';
}

bool clx_process_is_stopped(const struct clx_process *process) {
    return process->state == 'T' || process->state == 't';
}
