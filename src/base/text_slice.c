/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_slice.h"
#include "port/likely.h"

enum { LONGEST_NAME = 15, FARTHEST = 2 };

/* Of the C library only memcpy and the like may be needed. */
static size_t length_of(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == '\x7f';
}

static bool starts_with(const char *text, dynsel_text_slice part)
{
    for (size_t i = 0; i < part.length; i++) {
        if (text[i] == '\0' || lower(text[i]) != lower(part.begin[i])) {
            return false;
        }
    }
    return true;
}

dynsel_text_slice dynsel_text_slice_of(const char *text)
{
    return (dynsel_text_slice){text, length_of(text)};
}

dynsel_text_slice dynsel_text_trim(dynsel_text_slice slice)
{
    while (slice.length > 0 && is_blank(slice.begin[0])) {
        slice.begin++;
        slice.length--;
    }
    while (slice.length > 0 && is_blank(slice.begin[slice.length - 1])) {
        slice.length--;
    }
    return slice;
}

bool dynsel_text_equals(dynsel_text_slice slice, const char *text)
{
    return length_of(text) == slice.length && starts_with(text, slice);
}

bool dynsel_text_contains(const char *text, dynsel_text_slice part)
{
    do {
        if (starts_with(text, part)) {
            return true;
        }
    } while (*text++ != '\0');
    return false;
}

void dynsel_text_copy(char *to, size_t bytes, dynsel_text_slice from)
{
    size_t length = from.length;
    if (length >= bytes) {
        length = bytes - 1;
        while (length > 0 && ((unsigned char)from.begin[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    (void)__builtin_memcpy(to, from.begin, length);
    to[length] = '\0';
}

void dynsel_text_append(char *to, size_t bytes, dynsel_text_slice from)
{
    const size_t used = length_of(to);
    if (used + 1 < bytes) {
        dynsel_text_copy(to + used, bytes - used, from);
    }
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    const unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The number of letters to change, add or remove. */
static unsigned distance(dynsel_text_slice word, const char *name)
{
    unsigned row[LONGEST_NAME + 1];
    const size_t length = length_of(name);
    for (size_t j = 0; j <= length; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 0; i < word.length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)(i + 1);
        for (size_t j = 1; j <= length; j++) {
            const unsigned above = row[j];
            const unsigned differs = lower(word.begin[i]) != lower(name[j - 1]) ? 1 : 0;
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + differs);
            diagonal = above;
        }
    }
    return row[length];
}

DYNSEL_RARE const char *dynsel_text_nearest(dynsel_text_slice word, const char *const *names,
                                            size_t count)
{
    const char *nearest = NULL;
    unsigned best = FARTHEST + 1;
    for (size_t i = 0; i < count && word.length <= LONGEST_NAME; i++) {
        const unsigned far = distance(word, names[i]);
        /* A distance of the whole name is no similarity. */
        if (far < best && far < length_of(names[i])) {
            best = far;
            nearest = names[i];
        }
    }
    return nearest;
}
