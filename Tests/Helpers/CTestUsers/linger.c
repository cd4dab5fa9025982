#include "CTestUsers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// A connection over the loopback device whose other end reads nothing. Returns 0 or an errno.
static int make_stuck(int ends[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0) return errno;
    if (getsockname(listener, (struct sockaddr *)&address, &length) < 0) return errno;
    if (connect(ends[0], (struct sockaddr *)&address, length) < 0) return errno;
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
    if (ends[1] < 0) return errno;
    const struct linger linger = {.l_onoff = 1, .l_linger = 600};
    if (setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0) return errno;
    static const char bytes[65536];
    while (send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    return 0;
}

int test_send_lingering(int socket, const void *bytes, size_t count, int flags) {
    int ends[2] = {-1, -1};
    int error = make_stuck(ends);
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)(size_t)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.aligned.cmsg_level = SOL_SOCKET;
    control.aligned.cmsg_type = SCM_RIGHTS;
    control.aligned.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.aligned), &ends[0], sizeof(int));
    if (error == 0 && sendmsg(socket, &message, flags | MSG_NOSIGNAL) < 0) error = errno;
    if (error != 0) {
        // The other end first, by which nothing lingers.
        close(ends[1]);
        ends[1] = -1;
    }
    close(ends[0]);
    errno = error;
    return ends[1];
}
