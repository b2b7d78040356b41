/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE

#include "wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ranks.h"
#include "text.h"

#define USUAL_WIDTH 100 /* where there is no terminal */
#define LEAST_WIDTH 40

static int terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return USUAL_WIDTH;
    }
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

static bool wants_colours(void)
{
    const char *never = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return (never == NULL || *never == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

wrap wrap_stdout(int indent)
{
    const bool terminal = isatty(STDOUT_FILENO) != 0 && !ranks_have_launcher();

    return (wrap){.width = terminal ? terminal_width() : USUAL_WIDTH,
                  .indent = indent,
                  .colours = terminal && wants_colours()};
}

void wrap_begin(wrap *w, const char *label)
{
    w->column = printf("%-*s", w->indent, label);
}

static void break_line(wrap *w)
{
    w->column = printf("\n%*s", w->indent, "") - 1;
}

static void put_word(wrap *w, const char *word, size_t length)
{
    char copy[512];
    size_t bytes = length < sizeof copy ? length : sizeof copy - 1;

    memcpy(copy, word, bytes);
    copy[bytes] = '\0';
    int columns = (int)text_columns(copy);
    if (w->column > w->indent && w->column + 1 + columns > w->width) {
        break_line(w);
    }
    bool first = w->column <= w->indent;
    printf("%s%s", first ? "" : " ", copy);
    w->column += columns + (first ? 0 : 1);
}

void wrap_words(wrap *w, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (length > 0) {
            put_word(w, text, length);
        }
        text += length + (text[length] == ' ');
    }
}

void wrap_coloured(wrap *w, const char *colour, const char *text)
{
    const bool coloured = w->colours && colour != NULL;

    if (coloured) {
        printf("\033[%sm", colour);
    }
    wrap_words(w, text);
    if (coloured) {
        printf("\033[0m");
    }
}

void wrap_to(wrap *w, int column, int room)
{
    int blanks = column - w->column > 2 ? column - w->column : 2;

    if (w->column + blanks + room > w->width) {
        break_line(w);
    } else {
        w->column += printf("%*s", blanks - 1, ""); /* the next word brings the last one */
    }
}

void wrap_end(wrap *w)
{
    printf("\n");
    w->column = 0;
}
