// What the sanitizers' run-time libraries ask a program for; part of `make sanitize` alone.

#if __has_feature(address_sanitizer)
const char *__asan_default_options(void);

// A daemon gives nothing back at its end; leaks while it runs are what LeakTests count.
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}
#elif __has_feature(thread_sanitizer)
const char *__tsan_default_options(void);

const char *__tsan_default_options(void) {
    return "halt_on_error=1";
}
#else
typedef int clx_no_sanitizer;
#endif
