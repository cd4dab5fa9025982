#include "clinux_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clinux_proc.h"
#include "clinux_waits.h"
#include "reader.h"

enum {
    /// How long one with nothing to do stays.
    IDLE_MS = 5000,
    /// How long one is waited for until another is asked too, and how long both are.
    FIRST_MS = 50,
    BOTH_MS = 2000,
    /// How long the first word of the first one is waited for, once.
    BIRTH_MS = 50,
    /// One that had nothing to do may end just when it is asked.
    TRIES = 2,
    NAME_BYTES = 96,
};

struct question {
    /// It is in the answer again: nobody takes one for another's.
    uint64_t number;
    enum { TEXT, LOOK, VIEW } kind;
    uint32_t count;
    union {
        char name[NAME_BYTES];
        pid_t pids[CLX_LOOK_MAX];
    };
};

struct answer {
    uint64_t number;
    int32_t error;
    /// Bytes of what follows.
    uint32_t length;
    union {
        char text[CLX_READ_MAX];
        struct clx_process processes[CLX_LOOK_MAX];
        struct clx_process_view view;
    };
};

// MARK: - The reads: async-signal-safe calls only

/// Text as it is kept: without the line of groups, of which there may be 65,536.
struct kept {
    char *text;
    size_t length, room;
    /// Letters at the begin of a line that are those of that one's, while they are.
    size_t matched;
    enum { BEGINS, IS_KEPT, IS_DROPPED } line;
};

static void put(struct kept *kept, char letter) {
    if (kept->length < kept->room) kept->text[kept->length++] = letter;
}

static void keep(struct kept *kept, char letter) {
    static const char groups[] = "Groups:";
    if (kept->line == BEGINS && letter == groups[kept->matched]) {
        if (++kept->matched == sizeof groups - 1) kept->line = IS_DROPPED;
        return;
    }
    if (kept->line == BEGINS) {
        for (size_t i = 0; i < kept->matched; i++) put(kept, groups[i]);
        kept->line = IS_KEPT;
    }
    if (kept->line == IS_KEPT) put(kept, letter);
    if (letter == '\n') {
        kept->line = BEGINS;
        kept->matched = 0;
    }
}

/// What is kept of the mounts of a process (proc_pid_mountinfo(5)), of which there may be 100,000: the number of the first, and of
/// the last on its root folder.
struct mounts {
    char first[16], root[16], number[16];
    /// Of the line, from 0, and letters of it so far.
    int field;
    size_t length;
    bool is_root;
};

static void see_mount(struct mounts *mounts, char letter) {
    enum { NUMBER = 0, MOUNT_POINT = 4 };
    if (letter == '\n') {
        if (mounts->first[0] == '\0') memcpy(mounts->first, mounts->number, sizeof mounts->first);
        if (mounts->is_root) memcpy(mounts->root, mounts->number, sizeof mounts->root);
        memset(mounts->number, 0, sizeof mounts->number);
        mounts->is_root = false;
        mounts->field = 0;
        mounts->length = 0;
    } else if (letter == ' ') {
        mounts->field++;
        mounts->length = 0;
    } else {
        if (mounts->field == NUMBER && mounts->length < sizeof mounts->number - 1) mounts->number[mounts->length] = letter;
        if (mounts->field == MOUNT_POINT) mounts->is_root = letter == '/' && mounts->length == 0;
        mounts->length++;
    }
}

static void put_line(struct kept *kept, const char *line) {
    for (; *line != '\0'; line++) put(kept, *line);
    put(kept, '\n');
}

static int open_below(int folder, const char *name) {
    return folder < 0 ? clx_proc_open(name, O_RDONLY) : openat(folder, name, O_RDONLY | O_CLOEXEC);
}

/// Returns the length of the text, or minus an errno.
static ssize_t read_text(int folder, const char *name, char *text, size_t room) {
    char bytes[2048];
    struct kept kept = {.text = text, .room = room};
    struct mounts mounts = {.length = 0};
    const bool is_of_mounts = strcmp(name, "mountinfo") == 0;
    const int file = open_below(folder, name);
    if (file < 0) return -errno;
    ssize_t length = 0;
    while (kept.length < room && (length = read(file, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < length; i++) {
            if (is_of_mounts) see_mount(&mounts, bytes[i]);
            if (!is_of_mounts) keep(&kept, bytes[i]);
        }
    }
    const int error = length < 0 ? errno : 0;
    if (is_of_mounts) {
        put_line(&kept, mounts.first);
        put_line(&kept, mounts.root);
    }
    close(file);
    return error == 0 ? (ssize_t)kept.length : -error;
}

static void read_namespace(int folder, const char *name, struct clx_namespace *namespace) {
    const ssize_t length = readlinkat(folder, name, namespace->name, sizeof namespace->name - 1);
    namespace->error = length < 0 ? errno : 0;
    namespace->name[length < 0 ? 0 : length] = '\0';
}

static void read_view(int folder, struct clx_process_view *view) {
    read_namespace(folder, "ns/user", &view->user);
    read_namespace(folder, "ns/mnt", &view->mount);
    read_namespace(folder, "ns/net", &view->network);
    read_namespace(folder, "ns/pid", &view->process);
    view->root_error = clx_known_identity(folder, "root", &view->root) < 0 ? errno : 0;
}

static void look(const pid_t *pids, size_t count, struct clx_process *processes) {
    for (size_t i = 0; i < count; i++) {
        if (!clx_process_read_here(pids[i], &processes[i])) processes[i].pid = 0;
    }
}

static void answer_to(const struct question *question, int folder, struct answer *answer) {
    answer->number = question->number;
    answer->error = 0;
    if (question->kind == LOOK) {
        look(question->pids, question->count, answer->processes);
        answer->length = question->count * (uint32_t)sizeof answer->processes[0];
    } else if (question->kind == VIEW) {
        read_view(folder, &answer->view);
        answer->length = sizeof answer->view;
    } else {
        const ssize_t length = read_text(folder, question->name, answer->text, question->count);
        answer->error = length < 0 ? (int32_t)-length : 0;
        answer->length = length < 0 ? 0 : (uint32_t)length;
    }
}

_Noreturn void clx_reader_work(int socket) {
    static struct question question;
    static struct answer answer;
    prctl(PR_SET_NAME, "bgtask-reader", 0, 0, 0);
    send(socket, &answer, offsetof(struct answer, text), MSG_NOSIGNAL);
    for (;;) {
        struct pollfd waiting = {.fd = socket, .events = POLLIN};
        int folder;
        if (poll(&waiting, 1, IDLE_MS) == 0) _exit(0);
        const ssize_t length = clx_receive_with(socket, &question, sizeof question, &folder, MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (length != sizeof question) _exit(0);
        answer_to(&question, folder, &answer);
        if (folder >= 0) close(folder);
        // Back from there, all that it held has been let go of.
        send(socket, &answer, offsetof(struct answer, text) + answer.length, MSG_NOSIGNAL);
    }
}

// MARK: - Who asks

/// A process that reads.
struct reader {
    /// Or -1.
    int socket;
    /// As it says itself.
    bool is_there;
};

static _Thread_local struct readers {
    int (*make)(void *context);
    void *context;
    /// The one that is asked, and that which is asked too where the first says nothing.
    struct reader first, second;
    /// Whether its first word was waited for in vain.
    bool is_late;
    /// Of the last question.
    uint64_t number;
    /// Sockets to those that were held up and may not have ended.
    int held[CLX_READERS_MAX];
    int held_count;
} readers = {.first = {.socket = -1}, .second = {.socket = -1}};

static void close_reader(struct reader *reader) {
    if (reader->socket >= 0) close(reader->socket);
    reader->socket = -1;
}

void clx_reader_begin(int (*make)(void *context), void *context) {
    clx_reader_end();
    readers.make = make;
    readers.context = context;
}

void clx_reader_end(void) {
    close_reader(&readers.first);
    close_reader(&readers.second);
    while (readers.held_count > 0) close(readers.held[--readers.held_count]);
    readers.make = NULL;
}

void clx_reader_forget(void) {
    readers.first.socket = readers.second.socket = -1;
    readers.held_count = 0;
    readers.make = NULL;
}

/// Lets go of one that was held up where it goes on; it ends then.
static void forget_if_ended(int place) {
    struct pollfd held = {.fd = readers.held[place], .events = POLLIN};
    if (poll(&held, 1, 0) == 0) return;
    close(readers.held[place]);
    readers.held[place] = readers.held[--readers.held_count];
}

static void hold(struct reader *reader) {
    if (reader->socket >= 0) readers.held[readers.held_count++] = reader->socket;
    reader->socket = -1;
}

/// Returns 0 or an errno: EBUSY where too many are held up.
static int have(struct reader *reader) {
    if (reader->socket >= 0) return 0;
    for (int place = readers.held_count - 1; place >= 0; place--) forget_if_ended(place);
    if (readers.held_count > CLX_READERS_MAX - 2) return EBUSY;
    reader->socket = readers.make(readers.context);
    if (reader->socket < 0) return EAGAIN;
    reader->is_there = false;
    const int error = clx_closer_become_reader(reader->socket);
    if (error != 0) close_reader(reader);
    return error;
}

/// Takes what one says, without waiting. Returns 0 with the answer to the last question, EAGAIN where it says something else or
/// nothing, or EPIPE where it has ended.
static int hear(struct reader *reader, struct answer *answer) {
    const ssize_t length = recv(reader->socket, answer, sizeof *answer, MSG_DONTWAIT);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return EAGAIN;
    if (length < (ssize_t)offsetof(struct answer, text)) return EPIPE;
    reader->is_there = true;
    return answer->number == readers.number ? 0 : EAGAIN;
}

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/// Waits for an answer of either. Returns 0, ETIMEDOUT, or EPIPE where none is left that could give one.
static int wait_for(struct answer *answer, int milliseconds) {
    const int64_t until = milliseconds_now() + milliseconds;
    for (int64_t left = milliseconds; left >= 0; left = until - milliseconds_now()) {
        struct pollfd waiting[] = {
            {.fd = readers.first.socket, .events = POLLIN}, {.fd = readers.second.socket, .events = POLLIN}};
        if (readers.first.socket < 0 && readers.second.socket < 0) return EPIPE;
        if (poll(waiting, 2, (int)left) == 0) return ETIMEDOUT;
        for (int i = 0; i < 2; i++) {
            struct reader *reader = i == 0 ? &readers.first : &readers.second;
            if (reader->socket < 0 || waiting[i].revents == 0) continue;
            const int error = hear(reader, answer);
            if (error == EPIPE) close_reader(reader);
            if (error != 0) continue;
            // The second has been faster: what it was asked too holds up the first.
            if (i == 1) {
                hold(&readers.first);
                readers.first = readers.second;
                readers.second.socket = -1;
            }
            return 0;
        }
    }
    return ETIMEDOUT;
}

/// Waits until the first one has said that it is there, once. Who is not there yet, as where all numbers of processes are taken, is
/// not asked. Returns whether it is.
static bool is_first_there(struct answer *answer) {
    if (readers.first.is_there) return true;
    struct pollfd birth = {.fd = readers.first.socket, .events = POLLIN};
    if (poll(&birth, 1, readers.is_late ? 0 : BIRTH_MS) > 0 && hear(&readers.first, answer) == EPIPE) close_reader(&readers.first);
    readers.is_late = !readers.first.is_there;
    return readers.first.is_there;
}

/// Returns 0, EAGAIN where nobody can be asked, as on a machine with too much to do, and it is to be read here; or an errno.
static int ask(struct question *question, int folder, struct answer *answer) {
    if (readers.make == NULL) return EAGAIN;
    question->number = ++readers.number;
    // One a time, so that 512 cost nothing.
    if (readers.held_count > 0) forget_if_ended((int)(readers.number % (uint64_t)readers.held_count));
    int error = EPIPE;
    for (int tries = 0; tries < TRIES && error == EPIPE; tries++) {
        if (readers.first.socket >= 0 && hear(&readers.first, answer) == EPIPE) close_reader(&readers.first);
        error = have(&readers.first);
        // Where some are held up, nothing is read here.
        const bool is_nobody_there = error == EAGAIN || (error == 0 && !is_first_there(answer));
        if (is_nobody_there) return readers.held_count > 0 ? ETIMEDOUT : EAGAIN;
        if (error == 0) error = clx_send_with(readers.first.socket, question, sizeof *question, folder);
        if (error == 0) error = wait_for(answer, FIRST_MS);
    }
    if (error != ETIMEDOUT) return error == EPIPE ? EAGAIN : error;
    // What holds one up is gone for the other, unless somebody sees to it that there is more of it. And where the machine has too
    // much to do, the first one answers after all.
    if (have(&readers.second) == 0) clx_send_with(readers.second.socket, question, sizeof *question, folder);
    error = wait_for(answer, BOTH_MS);
    if (error == 0) close_reader(&readers.second);
    if (error != ETIMEDOUT) return error == EPIPE ? EAGAIN : error;
    hold(&readers.first);
    hold(&readers.second);
    return ETIMEDOUT;
}

ssize_t clx_read_of_process(int folder, const char *name, char *text, size_t capacity) {
    struct question question = {.kind = TEXT};
    struct answer answer;
    ssize_t length;
    question.count = (uint32_t)(capacity - 1 < CLX_READ_MAX ? capacity - 1 : CLX_READ_MAX);
    const bool fits = strlen(name) < sizeof question.name;
    if (fits) strcpy(question.name, name);
    const int error = fits ? ask(&question, folder, &answer) : ENAMETOOLONG;
    if (error == EAGAIN) {
        clx_waits_begin();
        length = read_text(folder, name, text, question.count);
        clx_waits_end();
    } else if (error != 0) {
        length = -error;
    } else {
        length = answer.error == 0 ? (ssize_t)answer.length : -answer.error;
        if (length > 0) memcpy(text, answer.text, (size_t)length);
    }
    text[length < 0 ? 0 : length] = '\0';
    if (length >= 0) return length;
    errno = (int)-length;
    return -1;
}

int clx_processes_look(const pid_t *pids, size_t count, struct clx_process *processes) {
    struct question question = {.kind = LOOK};
    struct answer answer;
    question.count = (uint32_t)(count < CLX_LOOK_MAX ? count : CLX_LOOK_MAX);
    memcpy(question.pids, pids, question.count * sizeof pids[0]);
    const int error = ask(&question, -1, &answer);
    if (error == 0) memcpy(processes, answer.processes, question.count * sizeof processes[0]);
    if (error != EAGAIN) return error;
    clx_waits_begin();
    look(pids, question.count, processes);
    clx_waits_end();
    return 0;
}

int clx_process_look_at_view(int folder, struct clx_process_view *view) {
    struct question question = {.kind = VIEW};
    struct answer answer;
    const int error = ask(&question, folder, &answer);
    if (error == 0) *view = answer.view;
    if (error != EAGAIN) return error;
    clx_waits_begin();
    read_view(folder, view);
    clx_waits_end();
    return 0;
}
