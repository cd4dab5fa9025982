// Commands for the tests of LinuxSystem that a shell cannot be.
#include <poll.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int number) {
    (void)number;
    static const char text[] = "signalled\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(1);
    _exit(0);
}

/// Leaves a daemon behind, in a session of its own and with init as its parent, that prints its
/// pid, and "signalled" on SIGTERM. Exits at once, or stays where `stays` says so.
static int daemonize(int stays) {
    if (fork() == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        signal(SIGTERM, on_signal);
        printf("%d\n", getpid());
        fflush(stdout);
        for (;;) pause();
    }
    wait(NULL);
    while (stays) pause();
    return 0;
}

/// Forks without end, each into a session of its own, with `limit` processes alive at most.
static int bomb(int limit) {
    atomic_int *alive = mmap(NULL, sizeof *alive, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (alive == MAP_FAILED) return 1;
    signal(SIGCHLD, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    atomic_store(alive, 1);
    for (int generation = 0;; generation++) {
        if (atomic_fetch_add(alive, 1) >= limit) {
            atomic_fetch_sub(alive, 1);
            static const char full[] = "full\n";
            if (generation > 0 && write(STDOUT_FILENO, full, sizeof full - 1) < 0) return 1;
            poll(NULL, 0, 1);
            // Makes room for another, so that processes come and go all the time.
            if (generation % 7 == 6 && getppid() != 0) {
                atomic_fetch_sub(alive, 1);
                if (fork() != 0) _exit(0);
                atomic_fetch_add(alive, 1);
            }
            continue;
        }
        pid_t child = fork();
        if (child < 0) atomic_fetch_sub(alive, 1);
        if (child == 0) setsid();
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "daemonize") == 0) return daemonize(0);
    if (strcmp(mode, "daemonize-and-stay") == 0) return daemonize(1);
    if (strcmp(mode, "bomb") == 0 && count > 2) return bomb(atoi(arguments[2]));
    return 64;
}
