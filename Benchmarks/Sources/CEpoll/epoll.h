// What Glibc's module does not show to Swift.
#include <sys/epoll.h>
