#include "request.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "clinux_strings.h"
#include "clinux_supervisor.h"

static void *file_memory, *pointer_memory;
static size_t file_bytes, pointer_bytes;

/// `pointers` is the next free place of the arrays.
static int parse(struct clx_strings *reader, char **pointers, struct clx_spawn_request *spawn) {
    const struct clx_supervisor_request *header = file_memory;
    const size_t left = (size_t)(reader->end - reader->at);
    if (header->group_count > left / sizeof(gid_t)) return EBADMSG;
    *spawn = (struct clx_spawn_request){
        .cgroup = -1,
        .file_mode_mask = header->file_mode_mask,
        .open_files_soft = header->open_files_soft,
        .no_new_privileges = header->no_new_privileges != 0,
        .changes_user = header->changes_user != 0,
        .user = header->user,
        .group = header->group,
        .groups = (const gid_t *)(const void *)reader->at,
        .group_count = header->group_count,
    };
    reader->at += header->group_count * sizeof(gid_t);
    const char *places[3];
    for (int i = 0; i < 3; i++) {
        places[i] = clx_next_string(reader);
        if (places[i] == NULL) return EBADMSG;
    }
    spawn->search_path = places[0];
    spawn->directory = places[1][0] == '\0' ? NULL : places[1];
    spawn->directory_fallback = places[2][0] == '\0' ? NULL : places[2];
    spawn->arguments = clx_next_strings(reader, header->argument_count, &pointers);
    if (spawn->arguments == NULL || header->argument_count == 0) return EBADMSG;
    spawn->environment = clx_next_strings(reader, header->environment_count, &pointers);
    return spawn->environment == NULL ? EBADMSG : 0;
}

int request_read(int descriptor, struct clx_spawn_request *spawn) {
    struct stat status;
    if (fstat(descriptor, &status) < 0) return errno;
    file_bytes = (size_t)status.st_size;
    if (file_bytes < sizeof(struct clx_supervisor_request)) return EBADMSG;
    file_memory = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    if (file_memory == MAP_FAILED) return errno;

    const struct clx_supervisor_request *header = file_memory;
    // Each string has a byte at least, so that more strings than bytes are a lie.
    size_t strings = (size_t)header->argument_count + header->environment_count;
    if (header->magic != CLX_SUPERVISOR_MAGIC || strings > file_bytes) return EBADMSG;
    pointer_bytes = (strings + 2) * sizeof(char *);
    pointer_memory = mmap(NULL, pointer_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pointer_memory == MAP_FAILED) return errno;
    struct clx_strings reader = {
        .at = (const char *)file_memory + sizeof *header,
        .end = (const char *)file_memory + file_bytes,
    };
    return parse(&reader, pointer_memory, spawn);
}

void request_free(void) {
    munmap(file_memory, file_bytes);
    munmap(pointer_memory, pointer_bytes);
}
