// The commands that are not forgotten, by key, and their children by process number.
#ifndef TABLE_H
#define TABLE_H

#include "command.h"

/// Makes room for one command more. Returns 0 or ENOMEM.
int table_reserve(void);

/// Room has to be reserved for it.
void table_enter(struct command *command);
void table_leave(struct command *command);

struct command *command_find(uint64_t key);

/// A command has a group. It can be found by that until it leaves that, or the table.
void table_enter_group(struct command *command);
void table_leave_group(struct command *command);
struct command *command_in_group(uint64_t number);

/// Calls for each that is not forgotten.
void command_each(void (*call)(struct command *command));

uint64_t command_count(void);

/// A child that has to be reaped.
void table_enter_child(struct child *child);
void table_leave_child(struct child *child);

/// The child with that process number, or NULL.
struct child *table_child(pid_t process);

#endif
