#pragma once

// Keeps sd-journal.h from turning sd_journal_sendv into a macro that adds the place of the call.
#define SD_JOURNAL_SUPPRESS_LOCATION 1

#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#include <pthread.h>

// Hidden from Swift's own Glibc module, which is built without _GNU_SOURCE: pthread_setname_np(3).
int pthread_setname_np(pthread_t thread, const char *name);
