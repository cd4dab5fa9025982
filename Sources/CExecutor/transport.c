#include "executor_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/// Aligned as the kernel's headers of control data need it.
union control {
    char bytes[CMSG_SPACE(sizeof(int) * EXECUTOR_DESCRIPTORS_MAX)];
    struct cmsghdr header;
};

int executor_send(int socket, const struct executor_record *record, const int *descriptors, size_t count) {
    union control control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)record, .iov_len = sizeof *record};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > EXECUTOR_DESCRIPTORS_MAX) return EINVAL;
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    }
    while (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/// Takes the descriptors of a message. Returns whether none had to be closed: the control data is longer than its
/// descriptors, so that one more than asked for may fit.
static bool take_descriptors(struct msghdr *header, struct executor_message *message) {
    bool are_all = true;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part != NULL; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const size_t more = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < more; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + i * sizeof descriptor, sizeof descriptor);
            if (message->count < EXECUTOR_DESCRIPTORS_MAX) {
                message->descriptors[message->count++] = descriptor;
            } else {
                close(descriptor);
                are_all = false;
            }
        }
    }
    return are_all;
}

int executor_receive(int socket, struct executor_message *message) {
    union control control;
    struct iovec part = {.iov_base = message->bytes, .iov_len = sizeof message->bytes};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t length;
    do {
        length = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        // The other end has gone and left unread what it was sent: told once, and then comes what it had sent.
    } while (length < 0 && (errno == EINTR || errno == ECONNRESET));
    if (length < 0) return errno;
    message->length = (size_t)length;
    message->count = 0;
    const bool are_all = take_descriptors(&header, message) && (header.msg_flags & MSG_CTRUNC) == 0;
    // A record of no bytes is none, and nobody sends one.
    if (are_all && length > 0) return 0;
    for (size_t i = 0; i < message->count; i++) close(message->descriptors[i]);
    message->count = 0;
    return length == 0 ? EPIPE : EMFILE;
}

int executor_sealed_file(const void *bytes, size_t length) {
    const int file = memfd_create("bgtask-work", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    for (size_t written = 0; written < length;) {
        const ssize_t count = write(file, (const char *)bytes + written, length - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) goto failed;
        written += (size_t)count;
    }
    if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0) return file;
failed:;
    const int error = errno;
    close(file);
    errno = error;
    return -1;
}
