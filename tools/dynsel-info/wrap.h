/* SPDX-License-Identifier: Apache-2.0 */
/** Lines of text: a label, and words that continue below each other at the end of a line. */
#ifndef WRAP_H
#define WRAP_H

typedef struct wrap {
    int width;  /**< of a line */
    int indent; /**< where the words begin */
    int column; /**< column of the next word */
    int colours;
} wrap;

/** For stdout: as wide as the terminal, coloured only there. */
wrap wrap_stdout(int indent);

void wrap_begin(wrap *w, const char *label);

/** Adds the words of a text; it is clean already. */
void wrap_words(wrap *w, const char *text);

/** The same, in a colour ("31") of ECMA-48's SGR; NULL: in none. */
void wrap_coloured(wrap *w, const char *colour, const char *text);

/** Prints blanks up to a column, at least two; if the line has no `room` more, begins the next. */
void wrap_to(wrap *w, int column, int room);

void wrap_end(wrap *w);

#endif
