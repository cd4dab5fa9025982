#include "clinux_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clinux_waits.h"
#include "reader.h"

enum {
    /// How long one with nothing to do stays.
    IDLE_MS = 5000,
    /// How long an answer is waited for at first; each time after it twice as long, so often.
    WAIT_MS = 10,
    TRIES = 3,
    /// How long the first word of a new one is waited for, once; and of one that takes the place of another that is held up.
    BIRTH_MS = 20,
    REPLACEMENT_MS = 100,
    NAME_BYTES = 96,
};

struct question {
    enum { TEXT, LOOK, VIEW } kind;
    uint32_t count;
    union {
        char name[NAME_BYTES];
        pid_t pids[CLX_LOOK_MAX];
    };
};

struct answer {
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

/// Returns the length of the text, or minus an errno.
static ssize_t read_text(int folder, const char *name, char *text, size_t room) {
    char bytes[2048];
    struct kept kept = {.text = text, .room = room};
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    ssize_t length = 0;
    while (kept.length < room && (length = read(file, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < length; i++) keep(&kept, bytes[i]);
    }
    const ssize_t result = length < 0 ? -errno : (ssize_t)kept.length;
    close(file);
    return result;
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
        answer_to(&question, folder < 0 ? AT_FDCWD : folder, &answer);
        if (folder >= 0) close(folder);
        // Back from there, all that it held has been let go of.
        send(socket, &answer, offsetof(struct answer, text) + answer.length, MSG_NOSIGNAL);
    }
}

// MARK: - Who asks

static _Thread_local struct readers {
    int (*make)(void *context);
    void *context;
    /// To the one that is asked, or -1.
    int socket;
    /// Whether it is there, as it says itself; and whether that was waited for in vain.
    bool is_there, is_late;
    /// Sockets to those that were held up and may not have ended.
    int held[CLX_READERS_MAX];
    int held_count;
} readers = {.socket = -1};

static void close_reader(void) {
    if (readers.socket >= 0) close(readers.socket);
    readers.socket = -1;
}

void clx_reader_begin(int (*make)(void *context), void *context) {
    clx_reader_end();
    readers.make = make;
    readers.context = context;
}

void clx_reader_end(void) {
    close_reader();
    while (readers.held_count > 0) close(readers.held[--readers.held_count]);
    readers.make = NULL;
}

void clx_reader_forget(void) {
    readers.socket = -1;
    readers.held_count = 0;
    readers.make = NULL;
}

/// Lets go of those that go on, and end.
static void forget_ended(void) {
    for (int place = readers.held_count - 1; place >= 0; place--) {
        struct pollfd held = {.fd = readers.held[place], .events = POLLIN};
        if (poll(&held, 1, 0) == 0) continue;
        close(readers.held[place]);
        readers.held[place] = readers.held[--readers.held_count];
    }
}

/// Returns 0 or an errno.
static int have_reader(void) {
    if (readers.socket >= 0) return 0;
    if (readers.held_count > 0) forget_ended();
    if (readers.held_count == CLX_READERS_MAX) return EBUSY;
    readers.socket = readers.make(readers.context);
    if (readers.socket < 0) return EAGAIN;
    readers.is_there = readers.is_late = false;
    const int error = clx_closer_become_reader(readers.socket);
    if (error != 0) close_reader();
    return error;
}

/// Takes an answer. Returns 0, ETIMEDOUT, or EPIPE where the reader has ended.
static int take_answer(struct answer *answer, int milliseconds) {
    struct pollfd waiting = {.fd = readers.socket, .events = POLLIN};
    const int count = poll(&waiting, 1, milliseconds);
    if (count == 0) return ETIMEDOUT;
    const ssize_t length = count < 0 ? -1 : recv(readers.socket, answer, sizeof *answer, MSG_DONTWAIT);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return ETIMEDOUT;
    if (length < (ssize_t)offsetof(struct answer, text)) return EPIPE;
    readers.is_there = true;
    return 0;
}

/// One that is not there yet, as where all numbers of processes are taken, is not asked, and nobody waits for it again and again:
/// EAGAIN.
static int ask_once(const struct question *question, int folder, struct answer *answer, int milliseconds) {
    int error = have_reader();
    if (error == 0 && !readers.is_there) {
        const int birth = milliseconds > WAIT_MS ? REPLACEMENT_MS : BIRTH_MS;
        error = take_answer(answer, readers.is_late ? 0 : birth);
        readers.is_late = error == ETIMEDOUT;
        if (error == ETIMEDOUT) error = EAGAIN;
    }
    if (error == 0) error = clx_send_with(readers.socket, question, sizeof *question, folder);
    if (error == 0) error = take_answer(answer, milliseconds);
    if (error == EPIPE) close_reader();
    if (error != ETIMEDOUT) return error;
    readers.held[readers.held_count++] = readers.socket;
    readers.socket = -1;
    return ETIMEDOUT;
}

/// Returns 0, EAGAIN where nobody can be asked, as on a machine with too much to do, and it is to be read here; or an errno.
static int ask(const struct question *question, int folder, struct answer *answer) {
    if (readers.make == NULL) return EAGAIN;
    int error = EPIPE, milliseconds = WAIT_MS;
    // What holds one up is gone for the next, unless somebody sees to it that there is more of it. One that had nothing to do has
    // ended.
    for (int tries = 0; tries < TRIES && (error == EPIPE || error == ETIMEDOUT); tries++) {
        error = ask_once(question, folder, answer, milliseconds);
        if (error == ETIMEDOUT) milliseconds *= 2;
    }
    // What has held one up is not read here.
    return error == EAGAIN && milliseconds > WAIT_MS ? ETIMEDOUT : error;
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
        length = read_text(folder < 0 ? AT_FDCWD : folder, name, text, question.count);
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
    struct answer answer;
    const int error = ask(&(struct question){.kind = VIEW}, folder, &answer);
    if (error == 0) *view = answer.view;
    if (error != EAGAIN) return error;
    clx_waits_begin();
    read_view(folder, view);
    clx_waits_end();
    return 0;
}
