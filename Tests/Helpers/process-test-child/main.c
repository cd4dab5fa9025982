// Commands for the tests of LinuxSystem that a shell cannot be.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
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

/// Forks for ever in some chains, each process ending as soon as it has a child, whatever signal it gets.
static int hop(int chains) {
    signal(SIGCHLD, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int i = 1; i < chains; i++) {
        if (fork() == 0) break;
    }
    for (;;) {
        if (fork() > 0) _exit(0);
    }
}

/// Forks twice, so that the process that stays is left to the subreaper. Returns whether this is that one.
static int is_orphan(void) {
    const pid_t child = fork();
    if (child == 0) {
        if (fork() != 0) _exit(0);
        return 1;
    }
    if (child > 0) waitpid(child, NULL, 0);
    return 0;
}

/// Leaves so many orphans that stay, says so, and from then on every so many milliseconds another one that ends at once.
static int make_orphans(int count, int pause_ms) {
    for (int i = 0; i < count; i++) {
        if (!is_orphan()) continue;
        close(STDOUT_FILENO);
        for (;;) pause();
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        poll(NULL, 0, pause_ms == 0 ? -1 : pause_ms);
        if (is_orphan()) _exit(0);
    }
}

/// Goes to a group, becomes user `games`, says so, and is another process after every so many milliseconds, whatever
/// signal it gets. No more than 4000 of these wait for somebody to reap them: the numbers are for all tests.
static int hydra(const char *group, int pause_ms) {
    char path[4096];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    const int file = open(path, O_WRONLY);
    if (file < 0 || write(file, "0", 1) < 0) return 1;
    close(file);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    const struct rlimit processes = {.rlim_cur = 4000, .rlim_max = 4000};
    if (setrlimit(RLIMIT_NPROC, &processes) < 0 || setresuid(5, 5, 5) < 0) return 1;
    puts("ready");
    fflush(stdout);
    for (;;) {
        poll(NULL, 0, pause_ms);
        if (fork() > 0) _exit(0);
    }
}

/// Of the set-user-id kind: becomes its owner wholly, as su(1) does, says so, and stays.
static int become_owner(void) {
    const uid_t owner = geteuid();
    if (setresuid(owner, owner, owner) < 0) return 1;
    printf("ready %d\n", getpid());
    fflush(stdout);
    for (;;) pause();
}

static int go;

static void *end_when_told(void *unused) {
    char byte;
    return read(go, &byte, 1) < 0 ? unused : NULL;
}

static int end_by_threads(int count) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&thread, &attributes, end_when_told, NULL) != 0) _exit(1);
    }
    if (write(STDOUT_FILENO, "started\n", 8) < 0) _exit(1);
    end_when_told(NULL);
    pthread_exit(NULL);
}

/// Traces a process whose threads all end, so many besides its first, and does not wait for them: they stay as zombies.
/// Prints the number of the process then, and waits.
static int keep_zombie_threads(int count) {
    int told[2], started[2];
    char path[64], text[16];
    if (pipe(told) < 0 || pipe(started) < 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
        go = told[0];
        close(told[1]);
        dup2(started[1], STDOUT_FILENO);
        end_by_threads(count);
    }
    if (read(started[0], text, sizeof text) <= 0) return 1;
    snprintf(path, sizeof path, "/proc/%d/task", child);
    DIR *folder = opendir(path);
    if (folder == NULL) return 1;
    pid_t threads[count + 1];
    int found = 0;
    for (struct dirent *entry; found <= count && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        threads[found] = atoi(entry->d_name);
        if (ptrace(PTRACE_SEIZE, threads[found++], NULL, NULL) < 0) return 1;
    }
    close(told[0]);
    close(told[1]);
    for (int i = 0; i < found; i++) {
        siginfo_t end;
        // The first thread cannot be waited for while others are there.
        if (threads[i] != child) waitid(P_PID, (id_t)threads[i], &end, WEXITED | WNOWAIT | __WALL);
    }
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    for (char state = 0; state != 'Z';) {
        FILE *stream = fopen(path, "r");
        if (stream == NULL || fscanf(stream, "%*d %*s %c", &state) != 1) return 1;
        fclose(stream);
    }
    printf("%d\n", child);
    fflush(stdout);
    for (;;) pause();
}

/// Makes processes that have the same parent as this one, prints the pid of each, and waits for the file `go`. They
/// end at once, or stay where `stays` says so.
static int make_siblings(int count, int stays, const char *go) {
    for (int i = 0; i < count; i++) {
        long sibling = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, NULL, NULL, 0);
        if (sibling < 0) return 1;
        if (sibling > 0) {
            printf("%ld\n", sibling);
            continue;
        }
        if (!stays) _exit(0);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        for (;;) pause();
    }
    puts("ready");
    fflush(stdout);
    while (access(go, F_OK) != 0) poll(NULL, 0, 10);
    return 0;
}

/// Leaves processes behind that stay, says so and exits.
static int leave(int count) {
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0) return 1;
        if (child > 0) continue;
        close(STDOUT_FILENO);
        for (;;) pause();
    }
    puts("left");
    return 0;
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

/// Holds some memory and computes until it has used that much of a processor, by the kernel's own count.
/// Prints "done" then, and waits where `stays` says so.
static int burn(long cpu_ms, size_t mebibytes, int stays) {
    size_t bytes = mebibytes << 20;
    if (bytes > 0) {
        char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return 1;
        memset(memory, 1, bytes);
    }
    struct rusage used;
    do {
        getrusage(RUSAGE_SELF, &used);
    } while ((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                 (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000 < cpu_ms);
    puts("done");
    fflush(stdout);
    while (stays) pause();
    return 0;
}

/// Starts a program again and again, in each of `workers` processes, by vfork(2), whose wait lasts `wait_ms`
/// and longer.
static int spawn_forever(int workers, int wait_ms) {
    for (int i = 1; i < workers; i++) {
        if (fork() == 0) break;
    }
    puts("spawning");
    fflush(stdout);
    for (;;) {
        pid_t child = vfork();
        if (child == 0) {
            poll(NULL, 0, wait_ms);
            execl("/bin/true", "true", NULL);
            _exit(1);
        }
        if (child > 0) waitpid(child, NULL, 0);
    }
}

/// Waits for a child of vfork(2) for ever, in a wait that only SIGKILL ends.
static int wait_for_vfork(void) {
    puts("waiting");
    fflush(stdout);
    if (vfork() == 0) {
        for (;;) pause();
    }
    return 1;
}

static void *spin(void *unused) {
    (void)unused;
    for (volatile int i = 0;; i++) {}
    return NULL;
}

/// Goes on without its first thread, which the kernel then shows as a zombie.
static int spin_without_leader(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, spin, NULL) != 0) return 1;
    pthread_exit(NULL);
}

/// Has the kernel remember four names in its folder in /proc for each of so many descriptors, and ends when a FIFO is opened.
static int be_remembered(int descriptors, const char *gate) {
    static const char *const folders[] = {"fd", "fdinfo", "task/%d/fd", "task/%d/fdinfo"};
    for (int i = 3; i < descriptors; i++) dup2(STDIN_FILENO, i);
    for (int i = 0; i < 4; i++) {
        char name[64] = "/proc/self/";
        snprintf(name + strlen(name), sizeof name - strlen(name), folders[i], getpid());
        const int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) return 1;
        for (int number = 3; number < descriptors; number++) {
            snprintf(name, sizeof name, "%d", number);
            faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW);
        }
        close(folder);
    }
    printf("%d\n", getpid());
    fflush(stdout);
    return open(gate, O_RDONLY) < 0;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "daemonize") == 0) return daemonize(0);
    if (strcmp(mode, "daemonize-and-stay") == 0) return daemonize(1);
    if (strcmp(mode, "bomb") == 0 && count > 2) return bomb(atoi(arguments[2]));
    if (strcmp(mode, "hop") == 0) return hop(count > 2 ? atoi(arguments[2]) : 1);
    if (strcmp(mode, "siblings") == 0 && count > 4) {
        return make_siblings(atoi(arguments[2]), atoi(arguments[3]), arguments[4]);
    }
    if (strcmp(mode, "orphans") == 0 && count > 3) return make_orphans(atoi(arguments[2]), atoi(arguments[3]));
    if (strcmp(mode, "hydra") == 0 && count > 3) return hydra(arguments[2], atoi(arguments[3]));
    if (strcmp(mode, "become-root") == 0) return become_owner();
    if (strcmp(mode, "zombie-threads") == 0 && count > 2) return keep_zombie_threads(atoi(arguments[2]));
    if (strcmp(mode, "remembered") == 0 && count > 3) return be_remembered(atoi(arguments[2]), arguments[3]);
    if (strcmp(mode, "leave") == 0 && count > 2) return leave(atoi(arguments[2]));
    if (strcmp(mode, "spawn") == 0 && count > 3) {
        return spawn_forever(atoi(arguments[2]), atoi(arguments[3]));
    }
    if (strcmp(mode, "wait-for-vfork") == 0) return wait_for_vfork();
    if (strcmp(mode, "spin-without-leader") == 0) return spin_without_leader();
    if (strcmp(mode, "session-keyring") == 0) return session_keyring();
    if (strncmp(mode, "burn", 4) == 0 && count > 3) {
        return burn(atol(arguments[2]), (size_t)atol(arguments[3]),
                    strcmp(mode, "burn-and-stay") == 0);
    }
    if (strcmp(mode, "flip") == 0 && count > 4) {
        return flip(arguments[2], arguments[3], arguments[4]);
    }
    return 64;
}
