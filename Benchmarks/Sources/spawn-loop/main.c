/// Runs a command many times, a few at once, as barely as a program can: posix_spawn and wait.
///
///     spawn-loop COUNT AT_ONCE COMMAND [ARGUMENT...]
///
/// Prints the seconds that all of them took, as a JSON object.

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static void fail(const char *operation, int error) {
    fprintf(stderr, "spawn-loop: %s: %s\n", operation, strerror(error));
    exit(1);
}

static double now(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) < 0) fail("clock_gettime", errno);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void wait_for_one(void) {
    int status;
    while (wait(&status) < 0) {
        if (errno != EINTR) fail("wait", errno);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the command", ECHILD);
}

int main(int count, char **arguments) {
    if (count < 4) fail("usage: spawn-loop COUNT AT_ONCE COMMAND [ARGUMENT...]", EINVAL);
    long left = atol(arguments[1]), at_once = atol(arguments[2]), running = 0;
    double start = now();
    while (left > 0 || running > 0) {
        if (left > 0 && running < at_once) {
            pid_t child;
            int error = posix_spawnp(&child, arguments[3], NULL, NULL, arguments + 3, environ);
            if (error != 0) fail("posix_spawnp", error);
            left -= 1;
            running += 1;
        } else {
            wait_for_one();
            running -= 1;
        }
    }
    printf("{\"seconds\": %.6f}\n", now() - start);
    return 0;
}
