#include "clinux_netlink.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clinux_proc.h"

// The initial user namespace has a number of its own on every machine (PROC_USER_INIT_INO).
#define INITIAL_USER_NAMESPACE 0xEFFFFFFDU

int clx_interface(int socket, int index, struct clx_interface *interface) {
    struct ifreq request = {.ifr_ifindex = index};
    if (ioctl(socket, SIOCGIFNAME, &request) < 0) return -1;
    memset(interface, 0, sizeof *interface);
    memcpy(interface->name, request.ifr_name, sizeof interface->name - 1);
    if (ioctl(socket, SIOCGIFFLAGS, &request) < 0) return -1;
    interface->is_up = (request.ifr_flags & IFF_UP) != 0;
    interface->is_loopback = (request.ifr_flags & IFF_LOOPBACK) != 0;
    return 0;
}

int clx_uevents_reach_us(void) {
    int network = clx_proc_open("/proc/self/ns/net", O_RDONLY);
    if (network < 0) return -1;
    int owner = ioctl(network, NS_GET_USERNS);
    int error = errno;
    close(network);
    if (owner < 0) {
        // It belongs to a namespace around ours, and ours is not the initial one.
        if (error == EPERM) return 0;
        errno = error;
        return -1;
    }
    struct stat status;
    int result = fstat(owner, &status) < 0 ? -1 : status.st_ino == INITIAL_USER_NAMESPACE;
    close(owner);
    return result;
}
