#include "clinux_group_programs.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /// A group can have 64 of a kind (BPF_CGROUP_MAX_PROGS of the kernel), and so can each above it.
    KIND_PROGRAMS_MAX = 512,
    PROGRAM_MAPS_MAX = 16,
};

/// The kinds that a group can have, by the numbers of linux/bpf.h, and those of Linux 6.7 too. One cannot simply try
/// all numbers: other kinds take the group's descriptor for the number of something else.
static const struct {
    unsigned first, last;
    enum clx_group_program_kind kind;
} KINDS[] = {
    {BPF_CGROUP_INET_INGRESS, BPF_CGROUP_INET_EGRESS, clx_group_program_network},
    {BPF_CGROUP_INET_SOCK_CREATE, BPF_CGROUP_SOCK_OPS, clx_group_program_socket},
    {BPF_CGROUP_DEVICE, BPF_CGROUP_DEVICE, clx_group_program_device},
    {BPF_CGROUP_INET4_BIND, BPF_CGROUP_UDP6_SENDMSG, clx_group_program_socket},
    {BPF_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL, clx_group_program_other},
    {BPF_CGROUP_UDP4_RECVMSG, BPF_CGROUP_SETSOCKOPT, clx_group_program_socket},
    {BPF_CGROUP_INET4_GETPEERNAME, BPF_CGROUP_INET6_GETSOCKNAME, clx_group_program_socket},
    {BPF_CGROUP_INET_SOCK_RELEASE, BPF_CGROUP_INET_SOCK_RELEASE, clx_group_program_socket},
    {BPF_LSM_CGROUP, BPF_LSM_CGROUP, clx_group_program_other},
    // BPF_CGROUP_UNIX_CONNECT to BPF_CGROUP_UNIX_GETSOCKNAME.
    {49, 53, clx_group_program_socket},
};

static int bpf(int command, union bpf_attr *attributes) {
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

/// Returns how many of a kind are in force, or -1.
static int query(int group, unsigned kind, uint32_t ids[KIND_PROGRAMS_MAX]) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.query.target_fd = (uint32_t)group;
    attributes.query.attach_type = kind;
    attributes.query.query_flags = BPF_F_QUERY_EFFECTIVE;
    attributes.query.prog_ids = (uintptr_t)ids;
    attributes.query.prog_cnt = KIND_PROGRAMS_MAX;
    if (bpf(BPF_PROG_QUERY, &attributes) == 0) return (int)attributes.query.prog_cnt;
    // The kernel does not know this kind, or has none at all.
    if (errno == EINVAL || errno == ENOSYS) return 0;
    if (errno == ENOSPC) errno = E2BIG;
    return -1;
}

int clx_group_programs(int group, struct clx_group_program *programs, size_t count_max) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        for (unsigned kind = KINDS[i].first; kind <= KINDS[i].last; kind++) {
            uint32_t ids[KIND_PROGRAMS_MAX];
            const int found = query(group, kind, ids);
            if (found < 0) return -1;
            for (int j = 0; j < found; j++) {
                if (count == count_max) {
                    errno = E2BIG;
                    return -1;
                }
                programs[count++] = (struct clx_group_program){.id = ids[j], .kind = KINDS[i].kind};
            }
        }
    }
    return (int)count;
}

static int open_by_id(int command, uint32_t id) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_id = id;
    return bpf(command, &attributes);
}

/// Reads what the kernel tells of a program or a map, and closes its descriptor.
static int take_info(int object, void *info, size_t size) {
    if (object < 0) return -1;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.info.bpf_fd = (uint32_t)object;
    attributes.info.info = (uintptr_t)info;
    attributes.info.info_len = (uint32_t)size;
    const int result = bpf(BPF_OBJ_GET_INFO_BY_FD, &attributes);
    close(object);
    return result;
}

uint64_t clx_counting_program(uint32_t id) {
    uint32_t maps[PROGRAM_MAPS_MAX];
    struct bpf_prog_info program;
    memset(&program, 0, sizeof program);
    program.map_ids = (uintptr_t)maps;
    program.nr_map_ids = PROGRAM_MAPS_MAX;
    if (take_info(open_by_id(BPF_PROG_GET_FD_BY_ID, id), &program, sizeof program) < 0) return 0;
    static const char NAME[] = "sd_fw_";
    if (program.type != BPF_PROG_TYPE_CGROUP_SKB || strncmp(program.name, NAME, sizeof NAME - 1) != 0
        || program.nr_map_ids > PROGRAM_MAPS_MAX) return 0;
    for (uint32_t i = 0; i < program.nr_map_ids; i++) {
        struct bpf_map_info map;
        memset(&map, 0, sizeof map);
        if (take_info(open_by_id(BPF_MAP_GET_FD_BY_ID, maps[i]), &map, sizeof map) < 0
            || map.type != BPF_MAP_TYPE_ARRAY) return 0;
    }
    uint64_t tag;
    _Static_assert(sizeof tag == sizeof program.tag, "the tag is a number");
    memcpy(&tag, program.tag, sizeof tag);
    return tag;
}
