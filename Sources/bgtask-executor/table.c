#include "table.h"

#include <errno.h>
#include <stdlib.h>

/// Chains, twice as many as there are commands at least.
static struct command **chains;
static uint64_t chain_count, command_total;

static struct command *group_chains[1 << 12];
static struct child *child_chains[1 << 12];

static struct command **place_of(uint64_t key) {
    uint64_t hash = key * 0x9E3779B97F4A7C15;
    struct command **place = &chains[(hash >> 32) & (chain_count - 1)];
    while (*place != NULL && (*place)->key != key) place = &(*place)->next;
    return place;
}

int table_reserve(void) {
    if (command_total * 2 < chain_count) return 0;
    struct command **old = chains;
    const uint64_t old_count = chain_count;
    struct command **larger = calloc(old_count == 0 ? 128 : old_count * 2, sizeof *larger);
    if (larger == NULL) return ENOMEM;
    chains = larger;
    chain_count = old_count == 0 ? 128 : old_count * 2;
    for (uint64_t i = 0; i < old_count; i++) {
        for (struct command *command = old[i], *next; command != NULL; command = next) {
            next = command->next;
            command->next = NULL;
            *place_of(command->key) = command;
        }
    }
    free(old);
    return 0;
}

void table_enter(struct command *command) {
    command->next = NULL;
    *place_of(command->key) = command;
    command_total++;
}

static struct command **place_of_group(uint64_t number) {
    struct command **place = &group_chains[number % (sizeof group_chains / sizeof group_chains[0])];
    while (*place != NULL && (*place)->group_number != number) place = &(*place)->next_in_group;
    return place;
}

void table_enter_group(struct command *command) {
    command->next_in_group = NULL;
    *place_of_group(command->group_number) = command;
}

struct command *command_in_group(uint64_t number) {
    return *place_of_group(number);
}

void table_leave_group(struct command *command) {
    struct command **place = place_of_group(command->group_number);
    if (*place == command) *place = command->next_in_group;
}

void table_leave(struct command *command) {
    table_leave_group(command);
    *place_of(command->key) = command->next;
    command_total--;
}

struct command *command_find(uint64_t key) {
    return chain_count == 0 ? NULL : *place_of(key);
}

void command_each(void (*call)(struct command *command)) {
    for (uint64_t i = 0; i < chain_count; i++) {
        for (struct command *command = chains[i], *next; command != NULL; command = next) {
            next = command->next;
            call(command);
        }
    }
}

uint64_t command_count(void) {
    return command_total;
}

static struct child **place_of_child(pid_t process) {
    struct child **place = &child_chains[(uint32_t)process % (sizeof child_chains / sizeof child_chains[0])];
    while (*place != NULL && (*place)->fork.pid != process) place = &(*place)->next;
    return place;
}

void table_enter_child(struct child *child) {
    child->next = NULL;
    *place_of_child(child->fork.pid) = child;
}

void table_leave_child(struct child *child) {
    struct child **place = place_of_child(child->fork.pid);
    if (*place == child) *place = child->next;
}

struct child *table_child(pid_t process) {
    return *place_of_child(process);
}
