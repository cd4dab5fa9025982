#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "CLinux.h"

static int open_file(pid_t process, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    return clx_proc_open(path, O_RDONLY);
}

/// Reads a file to its end, as far as it fits. Returns its length, or -1.
static long read_all(pid_t process, const char *name, char *text, size_t capacity) {
    const int file = open_file(process, name);
    if (file < 0) return -1;
    size_t length = 0;
    ssize_t more = 0;
    while (length < capacity - 1 && (more = read(file, text + length, capacity - 1 - length)) > 0) length += (size_t)more;
    const int error = errno;
    close(file);
    errno = error;
    text[length] = '\0';
    return more < 0 ? -1 : (long)length;
}

bool process_group(pid_t process, char name[GROUP_NAME_BYTES]) {
    // The groups of version 1 may stand before.
    char text[4 * GROUP_NAME_BYTES];
    if (read_all(process, "cgroup", text, sizeof text) < 0) {
        if (errno != ENAMETOOLONG) return false;
        strcpy(name, "(unreadable)");
        return true;
    }
    for (char *line = text, *end; *line != '\0'; line = end + 1) {
        end = line + strcspn(line, "\n");
        if (*end == '\0') break;
        *end = '\0';
        if (strncmp(line, "0::", 3) != 0) continue;
        // A group that is removed while a process ends in it. Its name may have the same words in it.
        static const char deleted[] = " (deleted)";
        const size_t length = strlen(line);
        if (length >= sizeof deleted && strcmp(end - (sizeof deleted - 1), deleted) == 0) {
            line[length - (sizeof deleted - 1)] = '\0';
        }
        if (strlen(line + 3) >= GROUP_NAME_BYTES) break;
        strcpy(name, line + 3);
        return true;
    }
    return false;
}

uint32_t process_session(pid_t process) {
    char text[32];
    if (read_all(process, "sessionid", text, sizeof text) <= 0) return UINT32_MAX;
    return (uint32_t)strtoul(text, NULL, 10);
}

uint64_t process_ticks(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)now.tv_sec * ticks + (uint64_t)now.tv_nsec * ticks / 1000000000;
}
