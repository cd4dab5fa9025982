#include "CTestUsers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
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

/// Sends one, or a file, and keeps both ends of it open. Returns 0 or an errno.
static int send_stuck(
    int ends[2], const char *file, int socket, const void *bytes, size_t count, int flags) {
    int error = 0;
    if (file == NULL) {
        error = make_stuck(ends);
    } else if ((ends[0] = open(file, O_RDONLY)) < 0) {
        error = errno;
    }
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
    if (error == 0 && sendmsg(socket, &message, flags | MSG_NOSIGNAL | MSG_DONTWAIT) < 0) error = errno;
    return error;
}

/// Moves them to the lowest numbers, and closes all others.
static void keep(int *descriptors, int count) {
    for (int i = 0; i < count; i++) descriptors[i] = fcntl(descriptors[i], F_DUPFD, 64);
    for (int i = 0; i < count; i++) descriptors[i] = dup2(descriptors[i], i);
    close_range((unsigned)count, ~0U, 0);
}

/// In a process of its own: one that another thread starts meanwhile would have a copy, and wait for it at its execve(2).
static _Noreturn void send_and_stay(
    int socket, int told, int end, const char *file, const void *bytes, size_t count, int flags) {
    int descriptors[] = {socket, told, end};
    keep(descriptors, 3);
    int ends[2] = {-1, -1};
    // Ended by SIGIO when the other end of that is closed, wherever it waits. A thread of dispatch blocks all signals.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fcntl(2, F_SETOWN, getpid());
    fcntl(2, F_SETFL, O_ASYNC);
    const int error = send_stuck(ends, file, 0, bytes, count, flags);
    const bool is_told = write(1, &error, sizeof error) == sizeof error;
    if (!is_told || error != 0) _exit(0);
    close(0);
    close(1);
    // Whoever has received it may have let go of it already: then this is the last, and lingers.
    close(ends[0]);
    for (;;) pause();
}

int test_send_lingering(int socket, const char *file, const void *bytes, size_t count, int flags) {
    int told[2], end[2], error = 0;
    if (pipe2(told, O_CLOEXEC) < 0 || pipe2(end, O_CLOEXEC) < 0) return -1;
    const pid_t child = fork();
    // Its child, so that nobody has to wait for that; where there can be none, nothing is told.
    if (child == 0 && fork() == 0) send_and_stay(socket, told[1], end[0], file, bytes, count, flags);
    if (child == 0) _exit(0);
    close(told[1]);
    close(end[0]);
    if (child > 0) waitpid(child, NULL, 0);
    if (read(told[0], &error, sizeof error) != sizeof error) error = ECHILD;
    close(told[0]);
    if (error == 0) return end[1];
    close(end[1]);
    errno = error;
    return -1;
}
