// Strings that end with NUL, one behind the other, as a request to start a command has them.
#ifndef CLINUX_STRINGS_H
#define CLINUX_STRINGS_H

#include <stddef.h>

/// Bytes that somebody else wrote, and where the reading stands in them.
struct clx_strings {
    const char *at;
    const char *end;
};

/// The next string, or NULL where no NUL ends one.
const char *clx_next_string(struct clx_strings *strings);

/// Puts the next strings and a NULL into an array, and moves `pointers` behind them. Returns the array, or NULL where
/// there are fewer.
char **clx_next_strings(struct clx_strings *strings, size_t count, char ***pointers);

#endif
