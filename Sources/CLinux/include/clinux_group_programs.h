#ifndef CLINUX_GROUP_PROGRAMS_H
#define CLINUX_GROUP_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

/// What a program of a control group stands in the way of.
enum clx_group_program_kind {
    clx_group_program_network,
    clx_group_program_socket,
    clx_group_program_device,
    clx_group_program_other,
};

/// A program that the kernel asks about what the processes of a control group do (bpf(2)).
struct clx_group_program {
    /// The kernel's number of it, for as long as it is loaded.
    uint32_t id;
    enum clx_group_program_kind kind;
};

/// Finds the programs that are in force in a control group, those of the groups above it included.
///
/// Returns how many there are, or -1: with EPERM where this process may not ask (CAP_NET_ADMIN), with E2BIG where there
/// are more than `count_max`. A kernel that has no such programs has none.
int clx_group_programs(int group, struct clx_group_program *programs, size_t count_max);

/// Returns what tells the instructions of a program that systemd has counting packets from those of others, or 0 where it
/// may do anything else: where it has another name than systemd's, asks a list of addresses, or may not be looked at.
uint64_t clx_counting_program(uint32_t id);

#endif
