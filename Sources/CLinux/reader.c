#include "clinux_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clinux_proc.h"
#include "closer.h"

enum {
    /// While a question is open; and while nothing is, but processes end.
    LOOK_MS = 5,
    /// Beyond that another is made only where one is held up.
    AT_WORK_MAX = 4,
    REST_MS = 1000,
};

// MARK: - Looks: async-signal-safe calls only

/// Whether a process runs the program of this one, also one that was replaced since.
static bool runs_same_program(pid_t process) {
    static const char suffix[] = " (deleted)";
    char path[64], own[PATH_MAX], other[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    const ssize_t own_length = clx_proc_read_link("/proc/self/exe", own, sizeof own);
    ssize_t length = clx_proc_read_link(path, other, sizeof other);
    if (own_length <= 0 || length < own_length) return false;
    const size_t rest = (size_t)(length - own_length);
    if (rest == sizeof suffix - 1 && memcmp(other + own_length, suffix, rest) == 0) length = own_length;
    return length == own_length && memcmp(own, other, (size_t)length) == 0;
}

void clx_look(pid_t process, struct clx_looked *looked) {
    *looked = (struct clx_looked){.user = UINT32_MAX};
    if (!clx_process_read(process, &looked->process)) {
        looked->process.pid = 0;
        return;
    }
    looked->user = clx_process_user(process);
    looked->runs_same_program = runs_same_program(process);
}

static void read_namespace(int folder, const char *name, struct clx_namespace *namespace) {
    const ssize_t length = readlinkat(folder, name, namespace->name, sizeof namespace->name - 1);
    namespace->error = length < 0 ? errno : 0;
    namespace->name[length < 0 ? 0 : length] = '\0';
}

/// Goes through a file byte by byte, until its end or until that returns false. Returns 0 or an errno.
static int read_each(int folder, const char *name, bool (*see)(void *context, char letter), void *context) {
    char bytes[2048];
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    ssize_t length;
    bool goes_on = true;
    while (goes_on && (length = read(file, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; goes_on && i < length; i++) goes_on = see(context, bytes[i]);
    }
    const int error = goes_on && length < 0 ? errno : 0;
    close(file);
    return error;
}

struct status {
    struct clx_viewed *to;
    /// Where the line began, and whether it is left out.
    uint32_t line;
    bool is_dropped;
};

static bool see_status(void *context, char letter) {
    static const char groups[] = "Groups:";
    struct status *status = context;
    struct clx_viewed *to = status->to;
    if (status->is_dropped) {
        status->is_dropped = letter != '\n';
        return true;
    }
    to->status[to->status_length++] = letter;
    if (letter == '\n') {
        status->line = to->status_length;
    } else if (to->status_length - status->line == sizeof groups - 1
               && memcmp(to->status + status->line, groups, sizeof groups - 1) == 0) {
        to->status_length = status->line;
        status->is_dropped = true;
    }
    return to->status_length < sizeof to->status - 1;
}

/// A line of proc_pid_mountinfo(5), of which there may be 100,000.
struct mounts {
    struct clx_viewed *to;
    char number[sizeof ((struct clx_viewed *)0)->first_mount];
    /// Of the line, from 0, and letters of it so far.
    int field;
    size_t length;
    bool is_root;
};

static bool see_mount(void *context, char letter) {
    enum { NUMBER = 0, MOUNT_POINT = 4 };
    struct mounts *mounts = context;
    struct clx_viewed *to = mounts->to;
    if (letter == '\n') {
        if (to->first_mount[0] == '\0') memcpy(to->first_mount, mounts->number, sizeof mounts->number);
        if (mounts->is_root) memcpy(to->root_mount, mounts->number, sizeof mounts->number);
        *mounts = (struct mounts){.to = to};
    } else if (letter == ' ') {
        mounts->field++;
        mounts->length = 0;
    } else {
        if (mounts->field == NUMBER && mounts->length < sizeof mounts->number - 1) mounts->number[mounts->length] = letter;
        if (mounts->field == MOUNT_POINT) mounts->is_root = letter == '/' && mounts->length == 0;
        mounts->length++;
    }
    return true;
}

static bool is_refusal(int error) {
    return error == EACCES || error == EPERM;
}

static void view(int folder, bool is_own, const char *user_namespace, struct clx_viewed *viewed) {
    read_namespace(folder, "ns/user", &viewed->user);
    if (user_namespace[0] != '\0' && viewed->user.error == 0 && strcmp(viewed->user.name, user_namespace) != 0) return;
    read_namespace(folder, "ns/mnt", &viewed->mount);
    read_namespace(folder, "ns/net", &viewed->network);
    read_namespace(folder, "ns/pid", &viewed->pid);
    viewed->root_error = clx_known_identity(folder, "root", &viewed->root) < 0 ? errno : 0;
    struct status status = {.to = viewed};
    viewed->status_error = read_each(folder, "status", see_status, &status);
    if (!is_own && !is_refusal(viewed->mount.error) && !is_refusal(viewed->root_error)) return;
    struct mounts mounts = {.to = viewed};
    viewed->mounts_error = read_each(folder, "mountinfo", see_mount, &mounts);
}

void clx_view(pid_t process, const char *user_namespace, struct clx_viewed *viewed) {
    char path[64] = "/proc/self";
    if (process != 0) snprintf(path, sizeof path, "/proc/%d", process);
    memset(viewed, 0, sizeof *viewed);
    const int folder = clx_proc_open(path, O_RDONLY | O_DIRECTORY);
    if (folder < 0 || !clx_process_read(process != 0 ? process : getpid(), &viewed->process)) {
        viewed->process.pid = 0;
    } else {
        view(folder, process == 0, user_namespace, viewed);
    }
    if (folder >= 0) close(folder);
}

static void read_page(int64_t from, struct clx_answer *answer) {
    // No more processes than there is room for: none takes less than 24 bytes.
    _Alignas(8) char entries[24 * CLX_LOOK_MAX];
    struct entry {
        uint64_t inode;
        int64_t next;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    const int folder = clx_proc_open("/proc/", O_RDONLY | O_DIRECTORY);
    const long length = folder < 0 || lseek(folder, from, SEEK_SET) < 0 ? -1 : syscall(SYS_getdents64, folder, entries, sizeof entries);
    answer->error = length < 0 ? errno : 0;
    for (long at = 0; at < length;) {
        const struct entry *entry = (const void *)(entries + at);
        at += entry->length;
        answer->next = entry->next;
        struct clx_looked *looked = &answer->all[answer->count];
        *looked = (struct clx_looked){.user = UINT32_MAX};
        if (entry->name[0] < '1' || entry->name[0] > '9') continue;
        if (clx_process_read((pid_t)strtol(entry->name, NULL, 10), &looked->process)) answer->count++;
    }
    if (folder >= 0) close(folder);
}

// MARK: - In their processes: async-signal-safe calls only

static size_t answer_to(const struct clx_question *question, struct clx_answer *answer) {
    answer->number = question->number;
    answer->error = 0;
    answer->count = 0;
    answer->next = 0;
    switch (question->kind) {
    case CLX_ASKS_VIEW:
        clx_view(question->pids[0], question->user_namespace, &answer->view);
        return sizeof *answer;
    case CLX_ASKS_LOOK:
        for (uint32_t i = 0; i < question->count && i < CLX_LOOK_MAX; i++) clx_look(question->pids[i], &answer->all[answer->count++]);
        break;
    case CLX_ASKS_PAGE: read_page(question->from, answer); break;
    }
    return offsetof(struct clx_answer, all) + answer->count * sizeof answer->all[0];
}

_Noreturn void clx_reader_work(int questions, int owner, uint64_t number) {
    static struct clx_question question;
    static struct clx_answer answer;
    prctl(PR_SET_NAME, "bgtask-reader", 0, 0, 0);
    answer.reader = number;
    for (;;) {
        struct pollfd waiting[] = {{.fd = owner, .events = POLLIN}, {.fd = questions, .events = POLLIN}};
        if (poll(waiting, 2, -1) < 0) continue;
        if (waiting[0].revents != 0) _exit(0);
        const ssize_t length = recv(questions, &question, sizeof question, MSG_DONTWAIT);
        if (length < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (length != sizeof question) _exit(0);
        const size_t bytes = answer_to(&question, &answer);
        // Back from there, all that it held has been let go of.
        while (send(questions, &answer, bytes, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
    }
}

// MARK: - Who they work for

int clx_readers_begin(struct clx_readers *readers) {
    memset(readers, 0, sizeof *readers);
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, readers->questions) < 0 ? errno : 0;
}

/// Returns how many processes are asked by that.
static uint32_t ask(const struct clx_readers *readers, const struct clx_question *question) {
    while (send(readers->questions[0], question, sizeof *question, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return 0;
    }
    return 1;
}

uint64_t clx_readers_ask(struct clx_readers *readers, const struct clx_question *question, uint64_t now) {
    if (readers->open_count == CLX_QUESTIONS_MAX) return 0;
    struct clx_open_question *open = &readers->open[readers->open_count++];
    *open = (struct clx_open_question){.question = *question, .asked_at = now};
    open->question.number = ++readers->last_question;
    // Where there is no room for it, it is asked again.
    open->sent = ask(readers, &open->question);
    return open->question.number;
}

static void close_question(struct clx_readers *readers, struct clx_answer *answer) {
    answer->is_first = false;
    answer->others = 0;
    for (int i = 0; i < readers->open_count; i++) {
        if (readers->open[i].question.number != answer->number) continue;
        answer->is_first = true;
        answer->others = readers->open[i].sent - (answer->error == ETIMEDOUT ? 0 : 1);
        readers->open[i] = readers->open[--readers->open_count];
        return;
    }
}

/// One that was told to end is not counted on.
static void was_quick(struct clx_readers *readers, uint64_t number) {
    for (int place = 0; place < readers->count; place++) {
        if (readers->processes[place].number == number && !readers->processes[place].is_dismissed) readers->quick = number;
    }
}

bool clx_readers_hear(struct clx_readers *readers, struct clx_answer *answer) {
    ssize_t length;
    while ((length = recv(readers->questions[0], answer, sizeof *answer, MSG_DONTWAIT)) > 0) {
        if (length < (ssize_t)offsetof(struct clx_answer, all)) continue;
        was_quick(readers, answer->reader);
        close_question(readers, answer);
        return true;
    }
    for (int i = 0; i < readers->open_count; i++) {
        if (readers->open[i].tries < CLX_READER_TRIES_MAX) continue;
        *answer = (struct clx_answer){.number = readers->open[i].question.number, .error = ETIMEDOUT};
        close_question(readers, answer);
        return true;
    }
    return false;
}

int clx_readers_next_look(const struct clx_readers *readers) {
    if (readers->open_count > 0) return LOOK_MS;
    return readers->count > 1 ? REST_MS : -1;
}

static void forget_ended(struct clx_readers *readers) {
    char nothing;
    for (int place = readers->count - 1; place >= 0; place--) {
        const int socket = readers->processes[place].socket;
        if (recv(socket, &nothing, sizeof nothing, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        close(socket);
        readers->processes[place] = readers->processes[--readers->count];
    }
}

/// What nobody has taken, though it is answered or given up, would fill the socket. It holds nobody up, and so it is answered here.
static void drop_stale(const struct clx_readers *readers) {
    struct clx_question question;
    while (recv(readers->questions[1], &question, sizeof question, MSG_DONTWAIT) == sizeof question) {
        const struct clx_answer nothing = {.number = question.number};
        send(readers->questions[1], &nothing, offsetof(struct clx_answer, all), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

/// With nothing to do, the one that was quick is enough. One that is held up ends when it is not any more.
static void dismiss_others(struct clx_readers *readers) {
    for (int place = 0; place < readers->count; place++) {
        struct clx_reader_process *process = &readers->processes[place];
        if (process->number == readers->quick || process->is_dismissed) continue;
        shutdown(process->socket, SHUT_WR);
        process->is_dismissed = true;
    }
}

/// Asks what was not answered in time again. Returns whether there is such a question.
static bool ask_again(struct clx_readers *readers, uint64_t now) {
    bool is_late = false;
    for (int i = 0; i < readers->open_count; i++) {
        struct clx_open_question *open = &readers->open[i];
        if (now - open->asked_at < ((uint64_t)CLX_READER_HELD_UP_MS << open->tries) * 1000000) continue;
        is_late = true;
        open->asked_at = now;
        // Beyond the last one it is told as unanswered.
        if (++open->tries < CLX_READER_TRIES_MAX) open->sent += ask(readers, &open->question);
    }
    return is_late;
}

/// How many have not been dismissed.
static int count_at_work(const struct clx_readers *readers) {
    int count = 0;
    for (int place = 0; place < readers->count; place++) count += !readers->processes[place].is_dismissed;
    return count;
}

/// Whether a question has waited for some time for one that takes it.
static bool is_waited_for(struct clx_readers *readers, uint64_t now) {
    int untaken = 0;
    const bool waits = ioctl(readers->questions[0], SIOCOUTQ, &untaken) == 0 && untaken > 0;
    if (!waits || readers->waits_since == 0) {
        readers->waits_since = waits ? now : 0;
        return false;
    }
    if (now - readers->waits_since < LOOK_MS * 1000000ULL) return false;
    readers->waits_since = now;
    return true;
}

bool clx_readers_lack_process(struct clx_readers *readers, uint64_t now) {
    forget_ended(readers);
    const bool is_late = ask_again(readers, now), is_waited = is_waited_for(readers, now);
    if (readers->open_count == 0) drop_stale(readers);
    if (readers->open_count == 0 && readers->quick != 0) dismiss_others(readers);
    // More than a few at a time take longer all together.
    const bool is_slow = is_late || (is_waited && count_at_work(readers) < AT_WORK_MAX);
    return readers->open_count > 0 && (readers->count == 0 || (is_slow && readers->count < CLX_READERS_MAX));
}

int clx_readers_employ(struct clx_readers *readers, int closer) {
    const int error = clx_closer_become_reader(closer, readers->questions[1], ++readers->last_process);
    if (error != 0) {
        close(closer);
        return error;
    }
    readers->processes[readers->count++] = (struct clx_reader_process){.socket = closer, .number = readers->last_process};
    return 0;
}

void clx_readers_end(struct clx_readers *readers) {
    while (readers->count > 0) close(readers->processes[--readers->count].socket);
    close(readers->questions[0]);
    close(readers->questions[1]);
}
