#include "delegation.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "CLinux.h"
#include "group.h"

static const char leaf[] = "/executor";
/// Where systemd has what it runs for a service with a delegated group beside its main process.
static const char control[] = "/.control";

/// Where cgroup v2 is mounted: alone, or beside the groups of version 1.
static const char *mount_point(void) {
    static const char *const points[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct statfs status;
    for (int i = 0; i < 2; i++) {
        if (statfs(points[i], &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC) return points[i];
    }
    return NULL;
}

/// The name of the own group, as /proc/self/cgroup shows it; empty for the topmost. Returns 0 or an errno.
static int read_own_name(char name[PATH_MAX]) {
    const int file = clx_proc_open("/proc/self/cgroup", O_RDONLY);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    if (stream == NULL) return errno;
    int error = ENOENT;
    char line[PATH_MAX + 16];
    while (error == ENOENT && fgets(line, sizeof line, stream) != NULL) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        // Outside of the cgroup namespace, or removed.
        const bool is_usable = strncmp(line, "0::/..", 6) != 0 && strstr(line, " (deleted)") == NULL;
        const char *text = line[4] == '\0' ? "" : line + 3;
        if (is_usable && strlen(text) < PATH_MAX) {
            strcpy(name, text);
            error = 0;
        } else {
            error = ENOTSUP;
        }
    }
    fclose(stream);
    return error;
}

static bool has_mark(const char *folder) {
    char value;
    return getxattr(folder, "trusted.delegate", &value, 1) == 1 && value == '1';
}

/// By the mark of a service manager, which root alone can write; or by its owner's, which does not count for root. Those of
/// users put none (systemd 252), and there it is a user's own group.
static bool is_delegated(const char *folder) {
    struct stat status;
    char value;
    if (has_mark(folder)) return true;
    if (stat(folder, &status) < 0 || status.st_uid != geteuid()) return false;
    if (geteuid() != 0) return access(folder, W_OK) == 0;
    return getxattr(folder, "user.delegate", &value, 1) == 1 && value == '1';
}

/// The path of the own group. Returns 0 or an errno.
static int find_own(char folder[PATH_MAX], char name[PATH_MAX]) {
    const char *point = mount_point();
    if (point == NULL) return ENODEV;
    const int error = read_own_name(name);
    if (error != 0) return error;
    return snprintf(folder, PATH_MAX, "%s%s", point, name) >= PATH_MAX ? ENAMETOOLONG : 0;
}

/// Cuts the last part of a path off where it is that, in a delegated group.
static bool leave(const char *last, char *folder, const char *name) {
    const size_t length = strlen(folder), end = strlen(last);
    // A leaf that this program has made is its user's as well as the group above.
    if (strlen(name) <= end || strcmp(folder + length - end, last) != 0 || has_mark(folder)) return false;
    folder[length - end] = '\0';
    if (is_delegated(folder)) return true;
    folder[length - end] = last[0];
    return false;
}

/// Finds the delegated group: the own one, or that above where this process is in the leaf already (DelegateSubgroup= of
/// systemd.resource-control(5)).
static int find(char folder[PATH_MAX], char name[PATH_MAX]) {
    const int error = find_own(folder, name);
    if (error != 0) return error;
    if (leave(leaf, folder, name)) return 0;
    // The topmost is nobody else's.
    return name[0] == '\0' || is_delegated(folder) ? 0 : EPERM;
}

int delegation_enter(char folder[PATH_MAX], char group[PATH_MAX]) {
    char path[PATH_MAX];
    group[0] = '\0';
    int error = find(folder, group);
    if (error != 0) return error;
    // A group with processes of its own can give its children no controllers.
    if (snprintf(path, sizeof path, "%s%s", folder, leaf) >= PATH_MAX) return ENAMETOOLONG;
    if (mkdir(path, 0755) < 0 && errno != EEXIST) return errno;
    const int here = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (here < 0) return errno;
    error = group_write(here, "cgroup.procs", "0");
    close(here);
    if (error != 0) return error;
    const int above = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) return errno;
    group_pass_controllers(above);
    close(above);
    strcpy(path, folder);
    return snprintf(folder, PATH_MAX, "%s/commands", path) >= PATH_MAX ? ENAMETOOLONG : 0;
}

int delegation_kill(void) {
    char folder[PATH_MAX], name[PATH_MAX];
    int error = find_own(folder, name);
    if (error != 0) return error;
    // Anywhere else it would end whoever has started it.
    if (!leave(control, folder, name)) return EPERM;
    const int all = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (all < 0) return errno;
    error = group_write(all, "cgroup.kill", "1");
    close(all);
    return error;
}
