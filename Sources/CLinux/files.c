#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clinux_calls.h"

/// What the kernel gives at once of a small file of /proc or /sys, with a NUL behind it.
struct beginning {
    char text[4096];
};

static int read_beginning(int file, struct beginning *beginning) {
    ssize_t count;
    do {
        count = pread(file, beginning->text, sizeof beginning->text - 1, 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    beginning->text[count] = '\0';
    return 0;
}

/// Returns what is behind the word in the first line that begins with it, or NULL.
static const char *behind(const struct beginning *beginning, const char *word) {
    const size_t length = strlen(word);
    for (const char *line = beginning->text; line != NULL;) {
        if (strncmp(line, word, length) == 0) return line + length;
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    return NULL;
}

static bool parse(const char *text, uint64_t *number) {
    text += strspn(text, " \t");
    if (!isdigit((unsigned char)*text)) return false;
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && (*end == '\n' || *end == ' ' || *end == '\t' || *end == '\0');
}

int clx_number_after(int file, const char *word, uint64_t *number) {
    struct beginning beginning;
    if (read_beginning(file, &beginning) < 0) return -1;
    const char *text = behind(&beginning, word);
    return text != NULL && parse(text, number);
}

static bool is_set(const struct beginning *beginning, const char *word) {
    const char *text = behind(beginning, word);
    uint64_t number;
    return text != NULL && parse(text, &number) && number == 1;
}

int clx_group_events(int file, bool *is_populated, bool *is_frozen) {
    struct beginning beginning;
    if (read_beginning(file, &beginning) < 0) return -1;
    *is_populated = is_set(&beginning, "populated ");
    *is_frozen = is_set(&beginning, "frozen ");
    return 0;
}
