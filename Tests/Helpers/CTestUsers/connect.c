#include "CTestUsers.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

struct attempt {
    const char *path;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t count;
    int socket;
    int error;
};

/// The library's setuid() would change all threads; the bare calls change this one.
static int become(const struct attempt *attempt) {
    const gid_t group = attempt->group;
    if (syscall(SYS_setgroups, attempt->count, attempt->groups) < 0) return -1;
    if (syscall(SYS_setresgid, group, group, group) < 0) return -1;
    return (int)syscall(SYS_setresuid, attempt->user, attempt->user, attempt->user);
}

static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connected < 0) return -1;
    if (connect(connected, (struct sockaddr *)&address, sizeof address) == 0) return connected;
    int error = errno;
    close(connected);
    errno = error;
    return -1;
}

static void *run(void *argument) {
    struct attempt *attempt = argument;
    attempt->socket = become(attempt) < 0 ? -1 : connect_to(attempt->path);
    attempt->error = errno;
    return NULL;
}

int test_connect_as(const char *path, uid_t user, gid_t group, const gid_t *groups, size_t count) {
    struct attempt attempt = {
        .path = path, .user = user, .group = group, .groups = groups, .count = count};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, &attempt);
    if (error == 0) error = pthread_join(thread, NULL);
    if (error == 0) {
        // The change of user made the memory of all threads undumpable.
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        if (attempt.socket >= 0) return attempt.socket;
        error = attempt.error;
    }
    errno = error;
    return -1;
}
