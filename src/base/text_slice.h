/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of texts: comparison, copies of bounded size, and the nearest name. */
#ifndef DYNSEL_BASE_TEXT_SLICE_H
#define DYNSEL_BASE_TEXT_SLICE_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a longer text. */
typedef struct dynsel_text_slice {
    const char *begin;
    size_t length;
} dynsel_text_slice;

dynsel_text_slice dynsel_text_slice_of(const char *text);

/* Without the blanks around it; control characters count as blanks. */
dynsel_text_slice dynsel_text_trim(dynsel_text_slice slice);

/* Upper and lower case of ASCII letters are the same, whatever the locale is. */
bool dynsel_text_equals(dynsel_text_slice slice, const char *text);
bool dynsel_text_contains(const char *text, dynsel_text_slice part);

/* Copies as much as fits, never a part of a UTF-8 character, and ends it with '\0'. */
void dynsel_text_copy(char *to, size_t bytes, dynsel_text_slice from);

/* dynsel_text_copy() to the end of the text in `to`. */
void dynsel_text_append(char *to, size_t bytes, dynsel_text_slice from);

/* The name that `word` probably misspells; NULL: none is near. */
const char *dynsel_text_nearest(dynsel_text_slice word, const char *const *names, size_t count);

#endif
