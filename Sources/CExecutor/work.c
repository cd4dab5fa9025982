#include "executor_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clinux_strings.h"

static bool is_sound(const struct executor_work_header *header, size_t length) {
    const uint32_t flags = EXECUTOR_CHANGES_USER | EXECUTOR_NO_NEW_PRIVILEGES;
    if (header->magic != EXECUTOR_WORK_MAGIC || (header->flags & ~flags) != 0) return false;
    if (header->argument_count == 0) return false;
    // setresuid(2) would leave it as it is: root.
    const bool changes_user = (header->flags & EXECUTOR_CHANGES_USER) != 0;
    if (changes_user && (header->user == UINT32_MAX || header->group == UINT32_MAX)) return false;
    // A string has a byte at least, and a gid four, so that more of them than bytes are a lie.
    const uint64_t strings =
        (uint64_t)header->argument_count + header->handler_argument_count + header->environment_count + 3;
    return strings + (uint64_t)header->group_count * sizeof(gid_t) + sizeof *header <= length;
}

static bool read_strings(struct clx_strings *reader, struct executor_work *work) {
    work->search_path = clx_next_string(reader);
    work->directory = work->search_path == NULL ? NULL : clx_next_string(reader);
    work->directory_fallback = work->directory == NULL ? NULL : clx_next_string(reader);
    if (work->directory_fallback == NULL) return false;
    char **pointers = work->pointers;
    work->arguments = clx_next_strings(reader, work->header.argument_count, &pointers);
    if (work->arguments == NULL) return false;
    work->handler_arguments = clx_next_strings(reader, work->header.handler_argument_count, &pointers);
    if (work->handler_arguments == NULL) return false;
    work->environment = clx_next_strings(reader, work->header.environment_count, &pointers);
    if (work->environment == NULL) return false;
    if (work->directory[0] == '\0') work->directory = NULL;
    if (work->directory_fallback[0] == '\0') work->directory_fallback = NULL;
    return reader->at == reader->end;
}

int executor_work_read(const void *bytes, size_t length, struct executor_work *work) {
    *work = (struct executor_work){0};
    if (length < sizeof work->header || length > EXECUTOR_WORK_BYTES_MAX) return EBADMSG;
    memcpy(&work->header, bytes, sizeof work->header);
    const struct executor_work_header *header = &work->header;
    if (!is_sound(header, length)) return EBADMSG;
    struct clx_strings reader = {.at = (const char *)bytes + sizeof *header, .end = (const char *)bytes + length};
    work->groups = (const gid_t *)(const void *)reader.at;
    reader.at += header->group_count * sizeof(gid_t);
    const size_t count =
        (size_t)header->argument_count + header->handler_argument_count + header->environment_count + 3;
    work->pointers = malloc(count * sizeof *work->pointers);
    if (work->pointers == NULL) return ENOMEM;
    if (read_strings(&reader, work)) return 0;
    executor_work_free(work);
    return EBADMSG;
}

void executor_work_free(struct executor_work *work) {
    free(work->pointers);
    *work = (struct executor_work){0};
}
