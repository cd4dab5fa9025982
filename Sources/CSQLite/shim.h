#pragma once

#include <sqlite3.h>

// Has SQLite count no memory, which would take a lock at each allocation; variadic, which Swift cannot call.
// To be called before anything else of SQLite; later it does nothing.
static inline int csqlite_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// A macro with a cast, which Swift does not see: SQLite copies what is bound before the call returns.
static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}
