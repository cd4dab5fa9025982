// What /proc tells of the processes of strangers is read by somebody else than who serves others.
//
// For the time of a read the kernel holds what is asked about: the memory of a process (its stat, status and exe), its mount namespace
// (ns/mnt, mountinfo) or its root folder. Where the process ends meanwhile, who reads is the last to have that, and lets go of all
// that was mapped and mounted there. That may take as long as that user likes, and a thread that does so outlives SIGKILL. So a
// process that shares nothing with the one that serves does the reads, and is asked without waiting. Where one is held up, another
// is asked the same.
//
// What holds nothing may be read by everybody: a process's cgroup, sessionid, uid_map and children, and who owns its folder; and its stat and status once it
// is over with all its threads, and waits to be reaped.
#ifndef CLINUX_READER_H
#define CLINUX_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clinux_calls.h"
#include "clinux_processes.h"

enum {
    /// Processes that may be held up at once. Beyond that, no other is made.
    CLX_READERS_MAX = 512,
    /// Questions that may be open at once.
    CLX_QUESTIONS_MAX = 16,
    /// After so long without an answer another process is asked, and then after twice as long each time; and how often.
    CLX_READER_HELD_UP_MS = 50,
    CLX_READER_TRIES_MAX = 6,
    /// Processes that one question is about.
    CLX_LOOK_MAX = 64,
    CLX_NAMESPACE_BYTES = 48,
    CLX_STATUS_BYTES = 3072,
};

/// What is asked for.
struct clx_question {
    uint64_t number;
    enum clx_question_kind {
        /// The next of all processes that /proc shows, from a place on, which is 0 at first.
        CLX_ASKS_PAGE = 1,
        /// Processes by their numbers, as `clx_look`.
        CLX_ASKS_LOOK,
        /// What the first of the numbers reaches, as `clx_view`.
        CLX_ASKS_VIEW,
    } kind;
    uint32_t count;
    int64_t from;
    pid_t pids[CLX_LOOK_MAX];
    char user_namespace[CLX_NAMESPACE_BYTES];
};

/// One process.
struct clx_looked {
    /// Its number is 0 where it is gone.
    struct clx_process process;
    /// As `clx_process_user`.
    uint32_t user;
    /// Whether it runs the program of who has looked, also one that was replaced since.
    bool runs_same_program;
};

/// What a process reaches, and what keeps it from more. Texts end with NUL; each error is an errno, or 0.
struct clx_viewed {
    struct clx_process process;
    struct clx_namespace {
        int32_t error;
        /// The kernel's name for it (namespaces(7)).
        char name[CLX_NAMESPACE_BYTES];
    } user, mount, network, pid;
    int32_t root_error;
    struct clx_identity root;
    /// Of the lines of /proc/PID/mountinfo: the numbers of the first mount, and of the last one at its root folder. They are read of
    /// the caller, and where the kernel refuses to name a process's mount namespace or root.
    int32_t mounts_error;
    char first_mount[16], root_mount[16];
    /// The begin of /proc/PID/status, without the line of its groups.
    int32_t status_error;
    uint32_t status_length;
    char status[CLX_STATUS_BYTES];
};

struct clx_answer {
    uint64_t number;
    /// Who has answered.
    uint64_t reader;
    /// 0, or why there is no answer: ETIMEDOUT where nobody has given one.
    int32_t error;
    /// Whether it is the first one to its question. Later ones show no more than that who was asked too is not held up any more; and
    /// how many of those come, if none of them is.
    bool is_first;
    uint32_t others;
    uint32_t count;
    /// Where the next page begins; 0: this was the last.
    int64_t next;
    union {
        struct clx_looked all[CLX_LOOK_MAX];
        struct clx_viewed view;
    };
};

// MARK: - By whoever calls

/// Looks at a process that is the caller's own, or over.
void clx_look(pid_t process, struct clx_looked *looked);

/// Looks what a process reaches that is the caller's own or started by it; 0 is the caller. With the name of a user namespace, nothing
/// is looked at but the user namespace of a process in another one: it may be in 65,536 groups, which take the kernel milliseconds
/// to write.
void clx_view(pid_t process, const char *user_namespace, struct clx_viewed *viewed);

// MARK: - By processes

/// For one thread.
struct clx_readers {
    /// Questions are sent to the first, and answers come there; all processes have the second.
    int questions[2];
    struct clx_reader_process {
        int socket;
        uint64_t number;
        bool is_dismissed;
    } processes[CLX_READERS_MAX];
    int count;
    uint64_t last_process, last_question;
    /// Who has answered last.
    uint64_t quick;
    struct clx_open_question {
        struct clx_question question;
        /// How often it was asked, and how many were asked by that.
        int tries;
        uint32_t sent;
        uint64_t asked_at;
    } open[CLX_QUESTIONS_MAX];
    int open_count;
    /// When it was seen first that a question waits to be taken; 0: none does.
    uint64_t waits_since;
};

/// Returns 0 or an errno.
int clx_readers_begin(struct clx_readers *readers);

/// Asks. Returns the number of the question, which is answered, or 0 where too many are open. `now` is in nanoseconds on one clock.
uint64_t clx_readers_ask(struct clx_readers *readers, const struct clx_question *question, uint64_t now);

/// Takes an answer. Returns whether there is one.
bool clx_readers_hear(struct clx_readers *readers, struct clx_answer *answer);

/// After how many milliseconds `clx_readers_lack_process` is to be called again, and answers are to be heard; -1: not before something
/// else is asked.
int clx_readers_next_look(const struct clx_readers *readers);

/// Whether another process is needed for what is asked: there is none, or all are held up. Asks again what is not answered, and lets go of those that
/// are not needed any more.
bool clx_readers_lack_process(struct clx_readers *readers, uint64_t now);

/// Gives them a process that was made as a closer (`clx_closer_make`), whose socket is taken over. Returns 0 or an errno.
int clx_readers_employ(struct clx_readers *readers, int closer);

/// Lets go of all.
void clx_readers_end(struct clx_readers *readers);

#endif
