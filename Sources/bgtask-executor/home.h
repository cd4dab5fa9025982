// Where the processes of commands live: each command's in a control group of its own (grouped.c), or below a supervisor of
// its own (supervised.c). There is one kind for all commands of one executor.
#ifndef HOME_H
#define HOME_H

#include "command.h"

/// What a command asks of its home. Each returns 0 or an errno.
struct home {
    /// Makes the home, and begins the command in it. `input` is borrowed; -1: an empty one. Where it fails and
    /// `command->main` is not there, nothing has begun.
    int (*begin)(struct command *command, int input);
    /// Begins the command of the handler. Where it fails and `command->handler` is not there, nothing has begun.
    int (*begin_handler)(struct command *command);
    /// `signalled` is how many got it at once. Frozen processes go on with it.
    int (*signal)(struct command *command, int number, uint32_t *signalled);
    int (*kill)(struct command *command);
    int (*freeze)(struct command *command, bool is_frozen);
    /// `command->answer_by` has come.
    void (*give_up)(struct command *command);
    /// The command is over: removes the home, as far as it is there.
    void (*close)(struct command *command);
};

extern const struct home home_in_group, home_below_supervisor;

/// Chooses for all commands. None has been started before.
void home_choose(const struct home *home);

// What a home tells of a command.

/// The program of a child runs, or, with its `stage` and `error`, has failed to. It has its `fork.pid`.
void command_child_started(struct child *child);

/// A child is over; with its `exit` where it has started.
void command_child_ended(struct child *child);

/// Whether it is frozen; `error` is why a freeze was given up, or 0.
void command_is_frozen(struct command *command, bool is_frozen, int error);

/// No process of it is left. Where `use` has no memory, that of its children is taken.
void command_end(struct command *command, struct clx_use use);

// What homes have in common.

void close_both(int ends[2]);

/// Descriptors from here on stay free of commands, for the daemon, for signals and for limits.
long descriptors_max(void);

/// The most memory that a child held at once, 0 where that is not known: its count begins with what this process held when
/// it was forked (getrusage(2)), so that it says nothing up to there.
uint64_t peak_of_child(uint64_t counted);

#endif
