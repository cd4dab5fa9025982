#include "clinux_closer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "clinux_proc.h"
#include "closer.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

enum {
    /// Bytes of orders that wait for a closer: some thousand.
    ORDERS_BYTES = 4 << 20,
    /// How long one with nothing to do stays.
    IDLE_MS = 5000,
    /// The group of who has none.
    NOBODY = 65534,
    /// How long a relay may be at one piece: who orders something of a manager waits for less.
    RELAY_S = 10,
    /// Between two tries to fork.
    RETRY_MS = 50,
};

struct order {
    uint64_t token;
    uint32_t kind;
    /// Of RELAY.
    uint32_t user;
    char path[sizeof ((struct sockaddr_un *)0)->sun_path];
};

/// What is ordered of a closer, and of the maker.
enum {
    CLOSE = 1,
    /// That a descriptor has been closed by who has given it.
    CLOSED,
    TAKE,
    MAKE,
    RELAY,
    /// That it works in a folder; and that it removes what is named at a socket, and does nothing else any more.
    ENTER,
    REMOVE,
    /// That it looks at /proc through a mount; and that it answers what is asked at a socket, and does nothing else any more.
    LOOK_THROUGH,
    READ,
};

// MARK: - Looks that let go of nothing

// With no room for a descriptor, none is installed, and MSG_PEEK leaves the message, which has it, where it is.
ssize_t clx_look_at_socket(int socket, void *buffer, size_t capacity, bool *has_descriptor) {
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    const ssize_t count = recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT);
    *has_descriptor = count >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    return count;
}

bool clx_refuse_descriptors(int socket) {
    const int on = 1, off = 0;
    int passes = on;
    socklen_t size = sizeof passes;
    const bool is_known = getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &passes, &size) == 0;
    // As the socket that it was accepted from.
    if (passes == 0) return true;
    // Urgent data (MSG_OOB) may have one too, and is seen among the rest then.
    setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    if (!is_known || setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off) < 0) return false;
    bool has_descriptor;
    clx_look_at_socket(socket, NULL, 0, &has_descriptor);
    return !has_descriptor;
}

/// A pipe that has room for a page and no more.
static int make_narrow_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -1;
    if (fcntl(ends[1], F_SETPIPE_SZ, 1) >= 0) return 0;
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return -1;
}

ssize_t clx_receive_message(int socket, void *buffer, size_t capacity) {
    // Made at the first need, and there for good.
    static _Thread_local int ends[2] = {-1, -1};
    if (ends[0] < 0) {
        int made[2];
        if (make_narrow_pipe(made) < 0) return -1;
        memcpy(ends, made, sizeof ends);
    }
    const ssize_t count = splice(socket, NULL, ends[1], NULL, capacity, SPLICE_F_NONBLOCK);
    return count <= 0 ? count : read(ends[0], buffer, (size_t)count);
}

/// Without waiting for one. `flags` are MSG_PEEK or 0.
static ssize_t receive_datagram(
    int socket, void *buffer, size_t capacity, uid_t *sender, bool *has_descriptor, int flags) {
    // Room for the credentials, which come first, and for no descriptor: the kernel lets go of it.
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    *sender = (uid_t)-1;
    *has_descriptor = false;
    const ssize_t count = recvmsg(socket, &message, flags | MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0) return -1;
    *has_descriptor = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_CREDENTIALS) continue;
        struct ucred credentials;
        memcpy(&credentials, CMSG_DATA(one), sizeof credentials);
        *sender = credentials.uid;
    }
    return count;
}

ssize_t clx_receive_datagram(int socket, void *buffer, size_t capacity, uid_t *sender, bool *has_descriptor) {
    const ssize_t count = receive_datagram(socket, buffer, capacity, sender, has_descriptor, MSG_PEEK);
    if (count < 0 || *has_descriptor) return count;
    // The same, since nobody else reads.
    return recv(socket, NULL, 0, MSG_DONTWAIT) < 0 ? -1 : count;
}

bool clx_socket_is_laden(int socket, bool is_shared) {
    int type = 0;
    socklen_t size = sizeof type;
    getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size);
    bool has_descriptor;
    const bool has_message = clx_look_at_socket(socket, NULL, 0, &has_descriptor) >= 0;
    int unread = 0;
    ioctl(socket, FIONREAD, &unread);
    return has_descriptor || (unread > 0 && !is_shared) || (type == SOCK_DGRAM && has_message);
}

// MARK: - Orders

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_with(int socket, const struct order *order, int descriptor) {
    union control control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)order, .iov_len = sizeof *order};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    while (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == ECONNRESET || errno == ENOTCONN) return EPIPE;
        if (errno != EINTR) return errno;
    }
    return 0;
}

enum { ENDED = -1, NOTHING = -2 };

/// Takes an order. Returns its descriptor, NOTHING where it has none or `flags` say not to wait, or ENDED.
static int receive_with(int socket, struct order *order, int flags) {
    union control control;
    struct iovec part = {.iov_base = order, .iov_len = sizeof *order};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    const ssize_t length = recvmsg(socket, &message, flags);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return NOTHING;
    if (length <= 0) return ENDED;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (length != sizeof *order || header == NULL || header->cmsg_type != SCM_RIGHTS) return NOTHING;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

int clx_closer_close(int closer, uint64_t token, int descriptor) {
    struct order order = {.token = token, .kind = CLOSE};
    const int error = send_with(closer, &order, descriptor);
    if (error != 0) return error;
    close(descriptor);
    order.kind = CLOSED;
    // Where there is no room for that, others follow, which say as much.
    send(closer, &order, sizeof order, MSG_DONTWAIT | MSG_NOSIGNAL);
    return 0;
}

int clx_closer_take(int closer, uint64_t token, int descriptor) {
    const struct order order = {.token = token, .kind = TAKE};
    return send_with(closer, &order, descriptor);
}

int clx_closer_become_remover(int closer, int folder, int names) {
    const int error = send_with(closer, &(struct order){.kind = ENTER}, folder);
    return error != 0 ? error : send_with(closer, &(struct order){.kind = REMOVE}, names);
}

int clx_closer_become_reader(int closer, int questions, uint64_t number) {
    const int proc = clx_proc_descriptor();
    const int error = proc < 0 ? 0 : send_with(closer, &(struct order){.kind = LOOK_THROUGH}, proc);
    return error != 0 ? error : send_with(closer, &(struct order){.kind = READ, .token = number}, questions);
}

int clx_closer_answer(int closer, struct clx_closer_answer *answer) {
    const ssize_t length = recv(closer, answer, sizeof *answer, MSG_DONTWAIT);
    if (length == sizeof *answer) return 1;
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    errno = EPIPE;
    return -1;
}

// MARK: - In their processes: async-signal-safe calls only

/// Has nothing in common any more with the process that this one was forked from, but a socket.
static void part_with_parent(int *socket) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
    // The kernel reaps those that are forked from this one.
    action.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // What a terminal sends to the one that serves is not for this one.
    setsid();
    if (chdir("/") < 0) _exit(1);
    prctl(PR_SET_NAME, "bgtask-closer", 0, 0, 0);
    if (*socket > 0 && dup2(*socket, 0) < 0) _exit(1);
    *socket = 0;
    if (close_range(1, ~0U, 0) < 0) _exit(1);
    clx_proc_is_at(-1);
}

static struct clx_closer_answer answer;

static void tell(int closer, const struct order *order) {
    answer.token = order->token;
    while (send(closer, &answer, sizeof answer, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

static void take(int closer, const struct order *order, int descriptor) {
    bool has_descriptor;
    uid_t sender;
    // Back from here, all that came with it has been let go of.
    answer.length = receive_datagram(descriptor, answer.text, sizeof answer.text, &sender, &has_descriptor, 0);
    answer.sender = sender;
    tell(closer, order);
}

/// Waits until what was given has been closed by who gave it: then that has sent something else, or is gone. Where nothing more
/// can be sent, it finds that out with the next that it gives.
static void wait_for_more(int socket, bool is_ending) {
    struct pollfd orders = {.fd = socket, .events = is_ending ? 0 : POLLIN};
    while (poll(&orders, 1, -1) < 0 && errno == EINTR) {}
}

static _Noreturn void be_closer(int socket) {
    bool is_ending = false;
    for (;;) {
        struct pollfd orders = {.fd = socket, .events = POLLIN};
        const int count = is_ending ? 1 : poll(&orders, 1, IDLE_MS);
        if (count < 0) continue;
        // What was given in this moment is seen to, and nothing comes after that.
        if (count == 0) is_ending = shutdown(socket, SHUT_RD) == 0;
        struct order order;
        const int descriptor = receive_with(socket, &order, MSG_DONTWAIT);
        if (descriptor == NOTHING) continue;
        if (descriptor == ENDED) _exit(0);
        switch (order.kind) {
        case TAKE: take(socket, &order, descriptor); break;
        case ENTER:
            if (fchdir(descriptor) < 0) _exit(1);
            break;
        case REMOVE: clx_remover_work(descriptor, socket);
        case LOOK_THROUGH: clx_proc_is_at(descriptor); continue;
        case READ: clx_reader_work(descriptor, socket, order.token);
        default: wait_for_more(socket, is_ending);
        }
        close(descriptor);
        if (order.kind != CLOSE || order.token == 0) continue;
        answer.length = -1;
        tell(socket, &order);
    }
}

/// A socket of a stranger's, connected with that stranger's own rights; or -1.
static int connect_as(const struct order *order) {
    const uid_t user = order->user;
    // The bare calls, since the library's ask all threads of a process that this one was forked from.
    if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0) return -1;
    if (syscall(SYS_setresuid, user, user, user) < 0) return -1;
    // So that this user cannot trace it: what it writes to the other side is this program's alone.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, order->path, sizeof address.sun_path);
    const int other = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (connect(other, (struct sockaddr *)&address, sizeof address) < 0) return -1;
    if (getsockopt(other, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != user) return -1;
    return fcntl(other, F_SETFL, 0) < 0 ? -1 : other;
}

/// Passes on what waits, bytes alone. Returns false at the end. A wait in here, also one of the kernel's for what came along,
/// is the end of this process by SIGALRM.
static bool pass_on(int from, int to) {
    static char bytes[65536];
    alarm(RELAY_S);
    const ssize_t count = read(from, bytes, sizeof bytes);
    for (ssize_t sent = 0, more; sent < count; sent += more) {
        more = send(to, bytes + sent, (size_t)(count - sent), MSG_NOSIGNAL);
        if (more < 0 && errno != EINTR) return false;
        if (more < 0) more = 0;
    }
    alarm(0);
    return count > 0;
}

static _Noreturn void be_relay(int socket, const struct order *order) {
    // The way to the user's socket may lead through a file system of the user's.
    alarm(RELAY_S);
    struct pollfd ends[] = {{.fd = socket, .events = POLLIN}, {.fd = connect_as(order), .events = POLLIN}};
    alarm(0);
    while (ends[1].fd >= 0) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR) break;
        if (ends[0].revents != 0 && !pass_on(ends[0].fd, ends[1].fd)) break;
        if (ends[1].revents != 0 && !pass_on(ends[1].fd, ends[0].fd)) break;
    }
    _exit(0);
}

static _Noreturn void be_maker(int socket) {
    part_with_parent(&socket);
    struct order order;
    for (int closer; (closer = receive_with(socket, &order, 0)) != ENDED; close(closer)) {
        if (closer == NOTHING) continue;
        pid_t child;
        while ((child = _Fork()) < 0) poll(NULL, 0, RETRY_MS);
        if (child > 0) continue;
        close(socket);
        if (order.kind == RELAY) be_relay(closer, &order);
        be_closer(closer);
    }
    _exit(0);
}

// MARK: - Who they work for

static int make_pair(int type, int pair[2]) {
    return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair);
}

int clx_closers_begin(pid_t *maker) {
    int pair[2];
    if (make_pair(SOCK_SEQPACKET, pair) < 0) return -1;
    *maker = _Fork();
    if (*maker == 0) be_maker(pair[1]);
    const int error = errno;
    close(pair[1]);
    if (*maker > 0) return pair[0];
    close(pair[0]);
    errno = error;
    return -1;
}

/// Has the maker make a process, with one end of a pair. Returns the other, or -1.
static int order_process(int maker, const struct order *order, const int pair[2]) {
    const int error = send_with(maker, order, pair[1]);
    close(pair[1]);
    if (error == 0) return pair[0];
    close(pair[0]);
    errno = error;
    return -1;
}

int clx_closer_make(int maker) {
    int pair[2];
    if (make_pair(SOCK_SEQPACKET, pair) < 0) return -1;
    // For root; others have what the kernel gives them.
    const int bytes = ORDERS_BYTES;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    return order_process(maker, &(struct order){.kind = MAKE}, pair);
}

int clx_closer_connect(int maker, uid_t user, const char *path) {
    struct order order = {.kind = RELAY, .user = user};
    int pair[2];
    if (strlen(path) >= sizeof order.path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(order.path, path);
    if (make_pair(SOCK_STREAM | SOCK_NONBLOCK, pair) < 0) return -1;
    // The other end waits.
    fcntl(pair[1], F_SETFL, 0);
    return order_process(maker, &order, pair);
}
