// Commands for the tests of LinuxSystem that a shell cannot be.
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

/// Prints the id of its session keyring; "none" where it may not have any.
static int session_keyring(void) {
    long id = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
    if (id < 0 && errno != ENOSYS && errno != EPERM) return 1;
    id < 0 ? puts("none") : printf("%ld\n", id);
    return 0;
}

/// Makes the symbolic link `path` lead to `one` and to `other` in turn, for ever.
static int flip(const char *path, const char *one, const char *other) {
    char fresh[4096];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    for (;;) {
        if (symlink(one, fresh) < 0 || rename(fresh, path) < 0) return 1;
        const char *next = other;
        other = one;
        one = next;
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "daemonize") == 0) return daemonize(0);
    if (strcmp(mode, "daemonize-and-stay") == 0) return daemonize(1);
    if (strcmp(mode, "bomb") == 0 && count > 2) return bomb(atoi(arguments[2]));
    if (strcmp(mode, "session-keyring") == 0) return session_keyring();
    if (strcmp(mode, "flip") == 0 && count > 4) {
        return flip(arguments[2], arguments[3], arguments[4]);
    }
    return 64;
}
