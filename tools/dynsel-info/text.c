/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <string.h>

/** How many bytes follow a first byte, or -1 for one that begins nothing. */
static int more_bytes(unsigned char first)
{
    if (first < 0x80) {
        return 0;
    }
    if (first >= 0xC2 && first < 0xE0) {
        return 1;
    }
    if (first >= 0xE0 && first < 0xF0) {
        return 2;
    }
    return first >= 0xF0 && first < 0xF5 ? 3 : -1;
}

static bool is_a_character(uint32_t value, int more)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;

    return value >= least[more] && value <= 0x10FFFF && !is_surrogate;
}

uint32_t text_next(const char **at)
{
    const unsigned char *bytes = (const unsigned char *)*at;
    int more = more_bytes(bytes[0]);
    uint32_t value = more > 0 ? bytes[0] & (0x3Fu >> more) : bytes[0];

    if (bytes[0] == '\0') {
        return 0;
    }
    for (int i = 1; i <= more; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            more = -1;
            break;
        }
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    if (more < 0 || !is_a_character(value, more)) {
        *at += 1;
        return TEXT_BAD;
    }
    *at += more + 1;
    return value;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;

    for (; *text != '\0'; text++) {
        columns += ((unsigned char)*text & 0xC0) != 0x80; /* not the rest of a character */
    }
    return columns;
}

static bool is_plain(char c)
{
    return c >= ' ' && c <= '~';
}

void text_plain_part(char *to, size_t bytes, const char *text)
{
    const char *best = text;
    size_t longest = 0;

    while (*text != '\0') {
        const char *begin = text + strspn(text, " ");
        const char *end = begin;
        while (is_plain(*end)) {
            end++;
        }
        text = *end == '\0' ? end : end + 1;
        while (end > begin && end[-1] == ' ') {
            end--;
        }
        if ((size_t)(end - begin) > longest) {
            best = begin;
            longest = (size_t)(end - begin);
        }
    }
    longest = longest < bytes ? longest : bytes - 1;
    memcpy(to, best, longest);
    to[longest] = '\0';
}
