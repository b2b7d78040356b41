/* SPDX-License-Identifier: Apache-2.0 */
/* Small texts of fixed size: drivers' names, and the texts of errors. */
#ifndef DYNSEL_BACKENDS_OPENCL_TEXT_H
#define DYNSEL_BACKENDS_OPENCL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a longer text. */
typedef struct dynsel_opencl_slice {
    const char *begin;
    size_t length;
} dynsel_opencl_slice;

dynsel_opencl_slice dynsel_opencl_slice_of(const char *text);

/* Without the blanks around it; control characters count as blanks. */
dynsel_opencl_slice dynsel_opencl_trim(dynsel_opencl_slice slice);

/* Upper and lower case of ASCII letters are the same, whatever the locale is. */
bool dynsel_opencl_equals(dynsel_opencl_slice slice, const char *text);
bool dynsel_opencl_contains(const char *text, dynsel_opencl_slice part);

/* Copies as much as fits, never a part of a UTF-8 character, and ends it with '\0'. */
void dynsel_opencl_copy(char *to, size_t bytes, dynsel_opencl_slice from);

/* dynsel_opencl_copy() to the end of the text in `to`. */
void dynsel_opencl_append(char *to, size_t bytes, dynsel_opencl_slice from);

/*
 * The one of `names` that `word` was probably meant to be; NULL when none is near.
 */
const char *dynsel_opencl_nearest(dynsel_opencl_slice word, const char *const *names, size_t count);

#endif
