// bgtask-executor: starts commands, watches them, and ends them in time, whatever becomes of the daemon that ordered it.
//
// It knows no rule but time: docs/executor.md.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CLinux.h"
#include "brain.h"
#include "children.h"
#include "closers.h"
#include "command.h"
#include "delegation.h"
#include "elsewhere.h"
#include "ends.h"
#include "group.h"
#include "home.h"
#include "loop.h"
#include "notify.h"
#include "orphans.h"
#include "readers.h"
#include "reaping.h"
#include "releases.h"
#include "removals.h"
#include "strays.h"
#include "supervised.h"
#include "sweep.h"
#include "table.h"

enum {
    EXIT_USAGE = 64,
    EXIT_SYSTEM = 71,
    /// The descriptor of the connection, or of the socket that the daemon connects to.
    SOCKET = 3,
    /// How long it is waited for what is being reaped before this process is replaced.
    RELEASES_MS = 1000,
    PAUSE_MS = 10,
};

static void accept_brain(struct source *source, uint32_t events);
static void take_signals(struct source *source, uint32_t events);

static struct source listening = {.ready = accept_brain, .descriptor = -1};
static struct source signals = {.ready = take_signals, .descriptor = -1};
static bool is_ending;
/// Whether commands had their handlers because no daemon was there.
static bool has_drained;

static void accept_brain(struct source *source, uint32_t events) {
    (void)events;
    if (!brain_takes_connections()) return;
    const int socket = accept4(source->descriptor, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0) return;
    pid_t pid;
    uid_t user;
    gid_t group;
    // One that runs as somebody else orders nothing.
    const bool is_ours = clx_peer_credentials(socket, &pid, &user, &group) == 0 && user == geteuid();
    if (!is_ours || brain_connect(socket) != 0) close(socket);
}

static void take_signals(struct source *source, uint32_t events) {
    (void)events;
    // One of each that is watched, and room for one more, so that one read takes all.
    struct signalfd_siginfo signals[4];
    const ssize_t length = read(source->descriptor, signals, sizeof signals);
    for (size_t i = 0; length > 0 && i < (size_t)length / sizeof signals[0]; i++) {
        if (signals[i].ssi_signo != SIGCHLD) {
            is_ending = true;
            brain_start_no_more();
        }
    }
    reaping_note();
}

/// Ends the commands of a daemon that does not come back, or where this process is to end.
static void drain_where_needed(void) {
    const uint64_t left = brain_patience_left();
    if (left > 0) has_drained = false;
    // At the end again and again: the daemon may set other times meanwhile.
    if (!is_ending && (has_drained || left > 0)) return;
    has_drained = true;
    command_drain_all(is_ending ? DRAIN_STOP : DRAIN_ABSENCE);
}

/// The daemon that this process is to end with is gone. Returns the milliseconds until it has to be called again, or -1.
static int end_with_brain(void) {
    enum { RETRY_MS = 100 };
    static bool are_killed;
    is_ending = true;
    if (!are_killed) are_killed = command_cut_off_all();
    return are_killed ? -1 : RETRY_MS;
}

static int milliseconds_to_patience(void) {
    enum { HOUR_MS = 3600000 };
    const uint64_t left = brain_patience_left();
    if (is_ending || has_drained || left == UINT64_MAX || command_count() == 0) return -1;
    return left / 1000000 >= HOUR_MS ? HOUR_MS : (int)((left + 999999) / 1000000);
}

static int earlier(int one, int other) {
    if (one < 0) return other;
    return other < 0 || one < other ? one : other;
}

static uint64_t last_limit, last_kill;

static void take_times(struct command *command) {
    if (command_is_over(command)) return;
    const uint64_t killed_at = command_killed_at(command);
    if (command->limit_at > last_limit) last_limit = command->limit_at;
    if (killed_at == 0) last_kill = UINT64_MAX;
    if (killed_at > last_kill) last_kill = killed_at;
}

/// What was killed and has not ended so much later cannot: it is in a call of the kernel that does not return, and is left
/// behind.
#define LEAVE_NS UINT64_C(1000000000)

/// Whether nothing is left to wait for. `wait`: the milliseconds until that may have changed, or -1.
static bool is_done(int *wait) {
    const uint64_t living = command_living_count();
    *wait = -1;
    if (!is_ending && !brain_wants_end()) return false;
    last_limit = last_kill = 0;
    if (is_ending) command_each(take_times);
    // By then all are killed.
    if (is_ending || (living == 0 && !brain_wants_another())) notify_stopping(last_limit);
    if (living == 0) return true;
    if (!is_ending || last_kill == UINT64_MAX) return false;
    const uint64_t now = loop_now(), until = last_kill + LEAVE_NS;
    if (now < until) *wait = (int)((until - now + 999999) / 1000000);
    return now >= until;
}

static int open_socket(void) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(SOCKET, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0) return errno;
    if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC) < 0) return errno;
    if (!listens) {
        brain_expect_no_other();
        return brain_connect(SOCKET);
    }
    // Somebody else may have taken what was there to be taken.
    if (fcntl(SOCKET, F_SETFL, O_NONBLOCK) < 0) return errno;
    return loop_watch(&listening, SOCKET, EPOLLIN);
}

/// Opens where the commands are to live.
static int open_homes(const char *tree) {
    if (strcmp(tree, "none") != 0) {
        home_choose(&home_in_group);
        const int error = groups_open(tree);
        if (error != 0) return error;
        const int failure = readers_begin();
        return failure != 0 ? failure : strays_begin(groups_folder());
    }
    home_choose(&home_below_supervisor);
    const int lock = ends_lock_for_children();
    if (lock >= 0) supervised_begin(lock);
    return lock < 0 ? errno : 0;
}

static int set_up(const char *tree, uint64_t patience) {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    // Nobody takes that one; it is not ignored, since no signal is for the commands (`signals_are_default`).
    sigset_t blocked = watched;
    sigaddset(&blocked, SIGPIPE);
    if (sigprocmask(SIG_SETMASK, &blocked, NULL) < 0) return errno;
    // The library refuses those that it uses itself.
    for (int number = 1; number <= EXECUTOR_SIGNAL_MAX; number++) signal(number, SIG_DFL);
    if (clx_become_subreaper() < 0) return errno;
    children_begin();
    int error = closers_begin();
    if (error == 0) error = loop_open();
    if (error == 0) error = releases_begin();
    if (error == 0) error = brain_begin(patience);
    if (error == 0) error = open_homes(tree);
    if (error != 0) return error;
    const int descriptor = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor < 0) return errno;
    return loop_watch(&signals, descriptor, EPOLLIN);
}

static int complain(const char *subject, int error) {
    fprintf(stderr, "bgtask-executor: %s: %s\n", subject, strerror(error));
    return EXIT_SYSTEM;
}

/// The folders that the service manager has made, where the arguments leave it to that: `-`. Returns 0, or a status to exit
/// with.
static int find_folders(const char **tree, const char **state) {
    static char commands[PATH_MAX], group[PATH_MAX], folder[PATH_MAX];
    if (strcmp(*state, "-") == 0) {
        // The first of several, which colons divide.
        const char *folders = getenv("STATE_DIRECTORY");
        const size_t length = folders == NULL ? 0 : strcspn(folders, ":");
        if (length == 0 || length >= sizeof folder) {
            fputs("bgtask-executor: there is no STATE_DIRECTORY: its unit needs StateDirectory=\n", stderr);
            return EXIT_USAGE;
        }
        memcpy(folder, folders, length);
        *state = folder;
    }
    if (strcmp(*tree, "-") != 0) return 0;
    const int error = delegation_enter(commands, group);
    *tree = commands;
    if (error == EPERM) {
        fprintf(stderr, "bgtask-executor: the group %s is not delegated to it: its unit needs Delegate=yes\n", group);
        return EXIT_SYSTEM;
    }
    return error == 0 ? 0 : complain("its group in cgroup v2", error);
}

/// Does what is due. Returns the milliseconds until there is more of that, or -1.
static int work(void) {
    int kill = -1;
    if (brain_is_gone()) {
        kill = end_with_brain();
    } else {
        drain_where_needed();
    }
    // In this order: each may have the next one do something.
    readers_hear();
    int next = earlier(kill, command_fire_due(loop_now()));
    next = earlier(next, orphans_turn());
    next = earlier(next, strays_turn());
    next = earlier(next, sweep_turn());
    next = earlier(next, supervised_turn());
    next = earlier(next, elsewhere_turn());
    next = earlier(next, readers_turn());
    next = earlier(next, brain_tell());
    next = earlier(next, releases_turn());
    next = earlier(next, removals_turn());
    return earlier(next, milliseconds_to_patience());
}

static void run(void) {
    for (;;) {
        int wait = work(), until_done;
        if (is_done(&until_done)) return;
        wait = earlier(wait, until_done);
        const int next = earlier(wait, notify_turn(command_count(), command_living_count() > 0));
        // More orphans than one turn takes may be waiting.
        loop_turn(earlier(next, reaping_wait()));
        reaping_turn();
    }
}

/// Runs the program anew, with what it was started with, in the version that there is by now. Returns a status to exit with.
static int run_again(char **arguments, char **environment) {
    if (fcntl(SOCKET, F_SETFD, 0) < 0) return complain("descriptor 3, its socket", errno);
    for (int waited = 0; releases_are_held_up() && waited < RELEASES_MS; waited += PAUSE_MS) poll(NULL, 0, PAUSE_MS);
    if (releases_are_held_up()) {
        // A child has no such thread. It waits for the lock, which ends with this process's first thread.
        const pid_t child = fork();
        if (child < 0) return complain("its successor", errno);
        if (child > 0) notify_successor(child);
        if (child > 0) _exit(0);
    }
    execve(arguments[0], arguments, environment);
    return complain(arguments[0], errno);
}

/// A copy, since what is taken out of the environment changes it.
static char **copy_environment(void) {
    size_t count = 0;
    while (environ[count] != NULL) count++;
    char **copy = calloc(count + 1, sizeof *copy);
    if (copy != NULL) memcpy(copy, environ, count * sizeof *copy);
    return copy;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--kill") == 0) return complain("its group in cgroup v2", delegation_kill());
    if (count != 4) {
        fputs("bgtask-executor: is started by bgtaskd or by its unit, with the folder of its groups, that of its\n"
              "state, and the seconds for which commands go on without a daemon\n", stderr);
        return EXIT_USAGE;
    }
    char *end;
    const uint64_t patience = strtoull(arguments[3], &end, 10);
    if (arguments[3][0] < '0' || arguments[3][0] > '9' || *end != '\0' || patience > 86400) {
        fprintf(stderr, "bgtask-executor: %s: the seconds are a number up to 86400\n", arguments[3]);
        return EXIT_USAGE;
    }
    const char *tree = arguments[1], *state = arguments[2];
    char **environment = copy_environment();
    if (environment == NULL) return complain("its environment", ENOMEM);
    notify_begin();
    // Before its first look, since its own number may have been another's. Without one, /proc is looked at as it is.
    clx_proc_begin();
    const int status = find_folders(&tree, &state);
    if (status != 0) return status;
    int error = ends_open(state);
    if (error == EBUSY) {
        fprintf(stderr, "bgtask-executor: %s: another executor has this folder\n", state);
        return EXIT_SYSTEM;
    }
    if (error != 0) return complain(state, error);
    error = set_up(tree, patience * 1000000000);
    if (error != 0) return complain(tree, error);
    error = open_socket();
    if (error != 0) return complain("descriptor 3, its socket", error);
    notify_ready();
    run();
    command_let_go_of_users(brain_is_there());
    groups_end();
    error = ends_write();
    if (error != 0) return complain(state, error);
    return brain_wants_another() ? run_again(arguments, environment) : 0;
}
