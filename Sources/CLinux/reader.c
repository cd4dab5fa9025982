#include "clinux_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clinux_proc.h"
#include "clinux_waits.h"
#include "reader.h"

enum {
    /// How many are asked the same at most, and how long the first has until another is asked: each has twice the time of the one
    /// before. What holds one up is gone for the next.
    ASKED_MAX = 6,
    FIRST_MS = 50,
    /// How long all have. Not to be there yet is an answer where nobody is held up.
    ANSWER_MS = 2000,
    BIRTH_MS = 50,
    /// How much time may pass in waits for more than one, and how long it takes until a millisecond of it is forgotten; beyond that
    /// only so much is waited.
    WAITED_MAX_MS = 4000,
    FORGETTING = 10,
    SHORT_MS = 150,
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
    /// 0: who answers is there.
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
    /// All is kept of other files, where the name of a process may look like such a line.
    bool is_whole;
};

static void put(struct kept *kept, char letter) {
    if (kept->length < kept->room) kept->text[kept->length++] = letter;
}

static void keep(struct kept *kept, char letter) {
    static const char groups[] = "Groups:";
    if (kept->is_whole) return put(kept, letter);
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
    const char *slash = strrchr(name, '/');
    struct kept kept = {.text = text, .room = room, .is_whole = strcmp(slash == NULL ? name : slash + 1, "status") != 0};
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
    const pid_t self = getpid();
    answer.length = sizeof self;
    memcpy(answer.text, &self, sizeof self);
    send(socket, &answer, offsetof(struct answer, text) + answer.length, MSG_NOSIGNAL);
    for (;;) {
        int folder;
        const ssize_t length = clx_receive_with(socket, &question, sizeof question, &folder, 0);
        if (length < 0 && errno == EINTR) continue;
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
    int socket;
    /// 0 until it has said that it is there.
    pid_t pid;
};

static _Thread_local struct readers {
    int (*make)(void *context);
    void *context;
    /// Those that are asked, the first alone at first.
    struct reader asked[ASKED_MAX];
    int asked_count;
    /// Those that have not answered and may not have ended, by number and start. They end by themselves where they go on.
    struct clx_process *unanswered;
    int unanswered_count;
    /// Whether the first word of the first one was waited for in vain.
    bool is_unborn;
    /// Whether one was held up when nobody answered, and no other is there yet.
    bool was_held;
    /// Of the last question.
    uint64_t number;
    /// What was waited for more than one, and when that was counted.
    int64_t waited_ms, waited_at;
} readers;

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void drop_asked(int place) {
    close(readers.asked[place].socket);
    for (int i = place + 1; i < readers.asked_count; i++) readers.asked[i - 1] = readers.asked[i];
    readers.asked_count--;
}

/// Takes what one says, without waiting. Returns 0, EAGAIN where it says nothing, or EPIPE where it has ended.
static int take(struct reader *reader, struct answer *answer) {
    const ssize_t length = recv(reader->socket, answer, sizeof *answer, MSG_DONTWAIT);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return EAGAIN;
    if (length < (ssize_t)offsetof(struct answer, text)) return EPIPE;
    if (answer->number == 0) memcpy(&reader->pid, answer->text, sizeof reader->pid);
    return 0;
}

/// The same for the answer to the last question: EAGAIN where it says anything else.
static int hear(struct reader *reader, struct answer *answer) {
    const int error = take(reader, answer);
    return error == 0 && answer->number != readers.number ? EAGAIN : error;
}

/// Reads what it is now. Returns false where it is gone.
static bool is_there(struct clx_process *reader) {
    struct clx_process now;
    const bool is_same = clx_process_read_here(reader->pid, &now) && now.start_time == reader->start_time;
    reader->state = now.state;
    return is_same;
}

static void forget_if_ended(int place) {
    if (is_there(&readers.unanswered[place])) return;
    readers.unanswered[place] = readers.unanswered[--readers.unanswered_count];
}

/// Whether the kernel holds one up that has not answered: it does not run. Those that have ended are forgotten.
static bool is_any_held(void) {
    bool is_held = false;
    for (int place = readers.unanswered_count - 1; place >= 0; place--) {
        forget_if_ended(place);
        if (place == readers.unanswered_count) continue;
        is_held |= readers.unanswered[place].state == 'D' || readers.unanswered[place].state == 'S';
    }
    return is_held;
}

/// Asks one no more. It is kept in mind where it is at a question still.
static void put_aside(struct reader reader) {
    struct answer answer;
    struct clx_process process = {.pid = reader.pid};
    const bool is_known = reader.pid != 0 && clx_process_read_here(reader.pid, &process);
    if (is_known && take(&reader, &answer) == EAGAIN) readers.unanswered[readers.unanswered_count++] = process;
    close(reader.socket);
}

/// Has one made that is asked after the others. Returns 0 or an errno: EBUSY where too many have not answered.
static int add_reader(void) {
    if (readers.unanswered_count + ASKED_MAX > CLX_READERS_MAX) is_any_held();
    if (readers.unanswered_count + ASKED_MAX > CLX_READERS_MAX) return EBUSY;
    const int socket = readers.make(readers.context);
    if (socket < 0) return EAGAIN;
    const int error = clx_closer_become_reader(socket);
    if (error == 0) {
        readers.asked[readers.asked_count++] = (struct reader){.socket = socket};
    } else {
        close(socket);
    }
    return error;
}

void clx_reader_begin(int (*make)(void *context), void *context) {
    clx_reader_end();
    readers.unanswered = malloc(CLX_READERS_MAX * sizeof *readers.unanswered);
    if (readers.unanswered == NULL) return;
    readers.make = make;
    readers.context = context;
    // So that it is there when it is needed.
    add_reader();
}

void clx_reader_end(void) {
    while (readers.asked_count > 0) drop_asked(0);
    free(readers.unanswered);
    readers.unanswered = NULL;
    readers.unanswered_count = 0;
    readers.make = NULL;
}

void clx_reader_forget(void) {
    readers.asked_count = readers.unanswered_count = 0;
    readers.make = NULL;
}

/// Waits for an answer of any. Returns 0 with the place of who gave it, ETIMEDOUT, or EPIPE where none is left.
static int wait_for(struct answer *answer, int64_t milliseconds, int *place) {
    const int64_t until = milliseconds_now() + milliseconds;
    for (int64_t left = milliseconds; left >= 0; left = until - milliseconds_now()) {
        struct pollfd waiting[ASKED_MAX];
        if (readers.asked_count == 0) return EPIPE;
        for (int i = 0; i < readers.asked_count; i++) waiting[i] = (struct pollfd){.fd = readers.asked[i].socket, .events = POLLIN};
        if (poll(waiting, (nfds_t)readers.asked_count, (int)left) == 0) return ETIMEDOUT;
        for (int i = readers.asked_count - 1; i >= 0; i--) {
            if (waiting[i].revents == 0) continue;
            *place = i;
            const int error = hear(&readers.asked[i], answer);
            if (error == 0) return 0;
            if (error == EPIPE) drop_asked(i);
        }
    }
    return ETIMEDOUT;
}

/// Keeps the one that has answered, and no other.
static void keep_alone(int place) {
    const struct reader kept = readers.asked[place];
    for (int i = 0; i < readers.asked_count; i++) {
        if (i != place) put_aside(readers.asked[i]);
    }
    readers.asked[0] = kept;
    readers.asked_count = 1;
}

/// Waits until the first one has said that it is there, once. Returns whether it is.
static bool is_first_there(struct answer *answer) {
    for (int64_t left = readers.is_unborn ? 0 : BIRTH_MS; readers.asked[0].pid == 0;) {
        const int64_t begin = milliseconds_now();
        struct pollfd birth = {.fd = readers.asked[0].socket, .events = POLLIN};
        if (poll(&birth, 1, (int)left) == 0 || hear(&readers.asked[0], answer) == EPIPE) break;
        left -= milliseconds_now() - begin;
        if (left <= 0) break;
    }
    readers.is_unborn = readers.asked[0].pid == 0;
    return !readers.is_unborn;
}

/// How long may be waited for more than one.
static int64_t patience(void) {
    const int64_t now = milliseconds_now(), forgotten = (now - readers.waited_at) / FORGETTING;
    readers.waited_ms = forgotten >= readers.waited_ms ? 0 : readers.waited_ms - forgotten;
    readers.waited_at = now;
    return readers.waited_ms < WAITED_MAX_MS ? ANSWER_MS : SHORT_MS;
}

/// Asks one after the other. Returns 0, ETIMEDOUT, or EPIPE where none is left.
static int ask_more(const struct question *question, int folder, struct answer *answer, int *place) {
    const int64_t begin = milliseconds_now(), most = patience();
    int64_t milliseconds = FIRST_MS * 2, passed = 0;
    int error = ETIMEDOUT;
    while (error == ETIMEDOUT && passed < most) {
        if (readers.asked_count < ASKED_MAX && add_reader() == 0) {
            const int last = readers.asked_count - 1;
            if (clx_send_with(readers.asked[last].socket, question, sizeof *question, folder) != 0) drop_asked(last);
        }
        const bool is_last = readers.asked_count == ASKED_MAX || milliseconds > most - passed;
        error = wait_for(answer, is_last ? most - passed : milliseconds, place);
        milliseconds *= 2;
        passed = milliseconds_now() - begin;
    }
    readers.waited_ms = readers.waited_ms + passed < WAITED_MAX_MS * 2 ? readers.waited_ms + passed : WAITED_MAX_MS * 2;
    return error;
}

/// Nobody has answered. One that is not there yet is asked the next time too.
static void put_all_aside(void) {
    struct reader kept = {.socket = -1};
    while (readers.asked_count > 0) {
        const struct reader reader = readers.asked[--readers.asked_count];
        if (kept.socket < 0 && reader.pid == 0) {
            kept = reader;
        } else {
            put_aside(reader);
        }
    }
    if (kept.socket >= 0) readers.asked[readers.asked_count++] = kept;
}

/// Returns 0 or an errno: EAGAIN where nobody answers though nobody is held up, as on a machine with too much to do, and it is to be
/// read here.
static int ask(struct question *question, int folder, struct answer *answer) {
    if (readers.make == NULL) return EAGAIN;
    question->number = ++readers.number;
    // One at a time, so that 512 cost nothing.
    if (readers.unanswered_count > 0) forget_if_ended((int)(readers.number % (uint64_t)readers.unanswered_count));
    if (readers.asked_count > 0 && hear(&readers.asked[0], answer) == EPIPE) drop_asked(0);
    int place, error = readers.asked_count > 0 ? 0 : add_reader();
    if (error != 0) return error == EBUSY || is_any_held() ? EBUSY : EAGAIN;
    if (!is_first_there(answer)) return is_any_held() || readers.was_held ? EBUSY : EAGAIN;
    readers.was_held = false;
    error = clx_send_with(readers.asked[0].socket, question, sizeof *question, folder);
    if (error == 0) error = wait_for(answer, FIRST_MS, &place);
    if (error != 0) error = ask_more(question, folder, answer, &place);
    if (error == 0) {
        if (readers.asked_count > 1) keep_alone(place);
        return 0;
    }
    put_all_aside();
    readers.was_held = is_any_held();
    return readers.was_held ? ETIMEDOUT : EAGAIN;
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
