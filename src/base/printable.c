/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include <stdint.h>

#include <dynsel/error.h>

/* The number of bytes after the first one; 4: it begins no character. */
static size_t more_bytes(unsigned char first)
{
    if (first < 0x80) {
        return 0;
    }
    if (first < 0xC2 || first > 0xF4) {
        return 4;
    }
    if (first < 0xE0) {
        return 1;
    }
    if (first < 0xF0) {
        return 2;
    }
    return 3;
}

/* Decodes the character of 1 + `more` bytes; 0: they are none. */
static uint32_t decode(const char *text, size_t more)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    static const uint32_t bits[] = {0x7F, 0x1F, 0x0F, 0x07}; /* of the first byte */
    uint32_t value = (unsigned char)text[0];
    if (more == 0) {
        return value;
    }
    value = value & bits[more];
    for (size_t i = 1; i <= more; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80) {
            return 0;
        }
        value = value << 6 | ((unsigned char)text[i] & 0x3Fu);
    }
    const bool is_one =
        value >= least[more] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    return is_one ? value : 0;
}

static bool is_printable(uint32_t character)
{
    static const struct {
        uint32_t first;
        uint32_t last;
    } never[] = {{0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},
                 {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},   {0xFDD0, 0xFDEF},
                 {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFF}, {0xE0000, 0x10FFFF}};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (character >= never[i].first && character <= never[i].last) {
            return false;
        }
    }
    return true;
}

size_t dynsel_text_next(const char *text, bool *printable)
{
    const size_t more = more_bytes((unsigned char)text[0]);
    const uint32_t character = more < 4 ? decode(text, more) : 0;
    *printable = is_printable(character);
    return character != 0 ? more + 1 : 1;
}

const char *dynsel_printable(const char *text, char *buffer, size_t bytes)
{
    size_t used = 0;
    if (buffer == NULL || bytes == 0) {
        return "";
    }
    while (text != NULL && *text != '\0') {
        bool printable = false;
        const size_t length = dynsel_text_next(text, &printable);
        static const char other[] = "?";
        const char *const from = printable ? text : other;
        const size_t copied = printable ? length : sizeof(other) - 1;
        if (used + copied >= bytes) {
            break;
        }
        for (size_t i = 0; i < copied; i++) {
            buffer[used + i] = from[i];
        }
        used += copied;
        text = &text[length];
    }
    buffer[used] = '\0';
    return buffer;
}
