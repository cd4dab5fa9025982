#pragma once

// Characters that are more than a byte.
#define NCURSES_WIDECHAR 1
// Functions of these names as they are, without macros over them.
#define NCURSES_NOMACROS 1

#if __has_include(<ncursesw/curses.h>)
#include <ncursesw/curses.h>
#else
#include <curses.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

// What is a macro, a global variable or variadic in ncurses, which Swift does not see. Each acts on the one screen that
// there is.

// How text looks, one bit each.
enum cncurses_look {
    CNCURSES_BOLD = 1,
    CNCURSES_DIM = 2,
    CNCURSES_REVERSE = 4,
    CNCURSES_UNDERLINE = 8,
};

// Takes the terminal: standard output and standard input. False where its type is not known, or cannot place text.
static inline bool cncurses_start(void) {
    if (newterm(NULL, stdout, stdin) == NULL) return false;
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    // Nothing flushes what is to be shown when a key is pressed.
    intrflush(stdscr, FALSE);
    set_escdelay(25);
    curs_set(0);
    return true;
}

// Makes pairs of the colours from 1 on, each on the terminal's own ground. False where it has no colours.
static inline bool cncurses_use_colours(const short *colours, int count) {
    if (!has_colors() || start_color() == ERR) return false;
    short ground = use_default_colors() == OK ? -1 : COLOR_BLACK;
    for (int index = 0; index < count; index++) init_pair(index + 1, colours[index], ground);
    return true;
}

// Writes text from a place on; the rest of the line stays. The last place of the screen may be written too.
static inline void cncurses_write(
    int row, int column, const wchar_t *text, int count, unsigned int look, short pair) {
    attr_t attributes = A_NORMAL;
    if (look & CNCURSES_BOLD) attributes |= A_BOLD;
    if (look & CNCURSES_DIM) attributes |= A_DIM;
    if (look & CNCURSES_REVERSE) attributes |= A_REVERSE;
    if (look & CNCURSES_UNDERLINE) attributes |= A_UNDERLINE;
    wattr_set(stdscr, attributes, pair, NULL);
    mvwaddnwstr(stdscr, row, column, text, count);
}

// Empties a line.
static inline void cncurses_clear_line(int row) {
    wattr_set(stdscr, A_NORMAL, 0, NULL);
    wmove(stdscr, row, 0);
    wclrtoeol(stdscr);
}

// Sends what has changed to the terminal.
static inline void cncurses_refresh(void) { wrefresh(stdscr); }

// Has all of it sent anew by the next refresh.
static inline void cncurses_forget(void) { clearok(stdscr, TRUE); }

// How many columns a character takes, as ncurses sees it; -1 for one that cannot be shown.
static inline int cncurses_width(unsigned int scalar) {
    extern int wcwidth(wchar_t);
    return wcwidth((wchar_t)scalar);
}

// The next key: ERR where there is none, OK for a character, KEY_CODE_YES for a key of the keyboard.
static inline int cncurses_key(wint_t *key) { return wget_wch(stdscr, key); }
