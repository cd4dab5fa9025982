#include "CTestUsers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { COPIES_MAX = 253 };

// Sends, and says whether that went well.
static bool send_copies(
    const struct sockaddr_un *address, struct iovec part, int descriptor, size_t copies) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(COPIES_MAX * sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_name = (void *)(size_t)address,
        .msg_namelen = sizeof *address,
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(copies * sizeof(int)),
    };
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(copies * sizeof(int));
    for (size_t index = 0; index < copies; index++)
        memcpy(CMSG_DATA(rights) + index * sizeof(int), &descriptor, sizeof descriptor);
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) return false;
    ssize_t sent = sendmsg(sender, &message, MSG_NOSIGNAL);
    int error = errno;
    close(sender);
    errno = error;
    return sent >= 0;
}

int test_send_datagram(const char *path, const void *bytes, size_t count, size_t copies) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path || copies < 1 || copies > COPIES_MAX) {
        errno = EINVAL;
        return -1;
    }
    strcpy(address.sun_path, path);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    struct iovec part = {.iov_base = (void *)(size_t)bytes, .iov_len = count};
    bool is_sent = send_copies(&address, part, ends[1], copies);
    int error = errno;
    close(ends[1]);
    if (is_sent) return ends[0];
    close(ends[0]);
    errno = error;
    return -1;
}
