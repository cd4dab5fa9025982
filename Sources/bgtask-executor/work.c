#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL };

int work_take(struct work *work, int file) {
    struct stat status;
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS) return EPERM;
    if (fstat(file, &status) < 0) return errno;
    if (status.st_size <= 0 || status.st_size > EXECUTOR_WORK_BYTES_MAX) return EBADMSG;
    const size_t length = (size_t)status.st_size;
    // Not mapped: that costs more than to copy what most have.
    work->bytes = malloc(length);
    if (work->bytes == NULL) return ENOMEM;
    for (size_t at = 0; at < length;) {
        const ssize_t more = pread(file, (char *)work->bytes + at, length - at, (off_t)at);
        if (more <= 0) return more < 0 ? errno : EBADMSG;
        at += (size_t)more;
    }
    return executor_work_read(work->bytes, length, &work->read);
}

void work_drop(struct work *work) {
    executor_work_free(&work->read);
    free(work->bytes);
    work->bytes = NULL;
}

struct clx_spawn_request work_request(const struct work *work, char **arguments, const int descriptors[3]) {
    const struct executor_work *read = &work->read;
    return (struct clx_spawn_request){
        .arguments = arguments,
        .environment = read->environment,
        .directory = read->directory,
        .directory_fallback = read->directory_fallback,
        .search_path = read->search_path,
        .descriptors = descriptors,
        .descriptor_count = 3,
        .cgroup = -1,
        .signals_are_default = true,
        .file_mode_mask = read->header.file_mode_mask,
        .open_files_soft = read->header.open_files_soft,
        .no_new_privileges = (read->header.flags & EXECUTOR_NO_NEW_PRIVILEGES) != 0,
        .changes_user = (read->header.flags & EXECUTOR_CHANGES_USER) != 0,
        .user = read->header.user,
        .group = read->header.group,
        .groups = read->groups,
        .group_count = read->header.group_count,
    };
}
