// Netlink messages, and what of interfaces and namespaces Glibc's module does not show to Swift.
#ifndef CLINUX_NETLINK_H
#define CLINUX_NETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>

/// Asks for routes (rtnetlink(7), RTM_GETROUTE).
struct clx_route_request {
    struct nlmsghdr header;
    struct rtmsg route;
};

/// An interface of the network namespace that a socket is in.
struct clx_interface {
    char name[16];
    bool is_up;
    bool is_loopback;
};

/// Finds an interface by its number (netdevice(7)). Any socket will do. Returns 0, or -1 with errno:
/// ENODEV where there is none.
int clx_interface(int socket, int index, struct clx_interface *interface);

/// Whether the kernel's uevents reach this process's network namespace, which must belong to the
/// initial user namespace for that. Returns 1, 0 where it is another one's, or -1 with errno.
int clx_uevents_reach_us(void);

#endif
