#include "clinux_thread.h"

#include <pthread.h>
#include <signal.h>

int clx_thread_start(size_t stack_bytes, void *(*function)(void *), void *argument) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    // The mask is inherited. By SIGPROF the Swift runtime stops the threads of a program that crashes.
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGPROF);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    error = pthread_create(&thread, &attributes, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}
