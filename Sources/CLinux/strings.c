#include "clinux_strings.h"

#include <stdint.h>
#include <string.h>

const char *clx_next_string(struct clx_strings *strings) {
    const char *string = strings->at;
    const char *end = memchr(string, '\0', (size_t)(strings->end - string));
    if (end == NULL) return NULL;
    strings->at = end + 1;
    return string;
}

char **clx_next_strings(struct clx_strings *strings, size_t count, char ***pointers) {
    char **array = *pointers;
    for (size_t i = 0; i < count; i++) {
        const char *string = clx_next_string(strings);
        if (string == NULL) return NULL;
        // execve(2) takes them so, and changes none.
        *(*pointers)++ = (char *)(uintptr_t)string;
    }
    *(*pointers)++ = NULL;
    return array;
}
