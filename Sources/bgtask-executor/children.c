#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "CLinux.h"

enum {
    /// Room for one read at least.
    READ_BYTES = 4096,
};

static int file = -1;

void children_begin(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    file = clx_proc_open(path, O_RDONLY);
}

bool children_are_listed(void) {
    return file >= 0;
}

void children_restart(struct children *children) {
    children->length = children->at = 0;
    children->is_read = false;
}

int children_read_on(struct children *children) {
    if (children->capacity - children->length < READ_BYTES) {
        char *larger = realloc(children->text, children->capacity * 2 + READ_BYTES);
        if (larger == NULL) return ENOMEM;
        children->text = larger;
        children->capacity = children->capacity * 2 + READ_BYTES;
    }
    const size_t room = children->capacity - children->length;
    const ssize_t more = pread(file, children->text + children->length, room, (off_t)children->length);
    if (more < 0) return errno;
    children->length += (size_t)more;
    children->is_read = more == 0;
    return 0;
}

pid_t children_next(struct children *children) {
    pid_t pid = 0;
    // Each number has a space behind it.
    while (children->at < children->length && children->text[children->at] != ' ') {
        pid = pid * 10 + (children->text[children->at++] - '0');
    }
    if (children->at < children->length) children->at++;
    return pid;
}
