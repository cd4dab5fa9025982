#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL };

int work_take(struct work *work, int file) {
    struct stat status;
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS) return EPERM;
    if (fstat(file, &status) < 0) return errno;
    if (status.st_size <= 0 || status.st_size > EXECUTOR_WORK_BYTES_MAX) return EBADMSG;
    work->length = (size_t)status.st_size;
    work->bytes = mmap(NULL, work->length, PROT_READ, MAP_PRIVATE, file, 0);
    if (work->bytes == MAP_FAILED) {
        work->bytes = NULL;
        return errno;
    }
    return executor_work_read(work->bytes, work->length, &work->read);
}

void work_drop(struct work *work) {
    executor_work_free(&work->read);
    if (work->bytes != NULL) munmap(work->bytes, work->length);
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
