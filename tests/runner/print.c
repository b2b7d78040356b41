/* SPDX-License-Identifier: Apache-2.0 */
/* A printf() that takes two hundred bytes of stack. */
#include <stdbool.h>

#include "runner/output.h"
#include "runner/runner.h"

typedef struct line {
    char buffer[80];
    size_t length;
} line;

static void flush(line *out)
{
    runner_write(out->buffer, out->length);
    out->length = 0;
}

static void put(line *out, char character)
{
    if (out->length == sizeof out->buffer) {
        flush(out);
    }
    out->buffer[out->length++] = character;
}

/* What stands between % and the letter. */
typedef struct conversion {
    bool left;
    bool zeros;
    unsigned width;
    unsigned longs;  /* how many l; z, j and t count as one where they are so long */
    unsigned shorts; /* how many h */
} conversion;

static const char *read_conversion(const char *text, conversion *f)
{
    *f = (conversion){0};
    for (; *text == '-' || *text == '0' || *text == '+' || *text == '#'; text++) {
        f->left |= *text == '-';
        f->zeros |= *text == '0';
    }
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        f->width = *text == '.' ? f->width : 10 * f->width + (unsigned)(*text - '0');
    }
    for (;; text++) {
        switch (*text) {
        case 'l':
            f->longs++;
            break;
        case 'h':
            f->shorts++;
            break;
        case 'j':
            f->longs = 2;
            break;
        case 'z':
        case 't':
            f->longs = 1;
            break;
        default:
            return text;
        }
    }
}

static void put_padded(line *out, const conversion *f, const char *text, size_t length, bool number)
{
    for (size_t i = length; !f->left && i < f->width; i++) {
        put(out, f->zeros && number ? '0' : ' ');
    }
    for (size_t i = 0; i < length; i++) {
        put(out, text[i]);
    }
    for (size_t i = length; f->left && i < f->width; i++) {
        put(out, ' ');
    }
}

static void put_number(line *out, const conversion *f, uintmax_t number, unsigned base,
                       bool negative)
{
    char digits[24];
    size_t first = sizeof digits;
    do {
        digits[--first] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    if (negative) {
        digits[--first] = '-';
    }
    put_padded(out, f, &digits[first], sizeof digits - first, true);
}

static void put_text(line *out, const conversion *f, const char *text)
{
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    put_padded(out, f, text, length, false);
}

/* A copy of the list cannot be handed on by its address, so it stands in a structure. */
typedef struct arguments {
    va_list list;
} arguments;

static intmax_t next_signed(arguments *rest, const conversion *f)
{
    return f->longs > 1    ? va_arg(rest->list, long long)
           : f->longs == 1 ? va_arg(rest->list, long)
                           : va_arg(rest->list, int);
}

static uintmax_t next_unsigned(arguments *rest, const conversion *f)
{
    return f->longs > 1    ? va_arg(rest->list, unsigned long long)
           : f->longs == 1 ? va_arg(rest->list, unsigned long)
                           : va_arg(rest->list, unsigned);
}

static void put_signed(line *out, const conversion *f, intmax_t number)
{
    put_number(out, f, number < 0 ? -(uintmax_t)number : (uintmax_t)number, 10, number < 0);
}

static void put_argument(line *out, const conversion *f, char letter, arguments *rest)
{
    switch (letter) {
    case 'd':
    case 'i':
        put_signed(out, f, next_signed(rest, f));
        break;
    case 'u':
        put_number(out, f, next_unsigned(rest, f), 10, false);
        break;
    case 'x':
        put_number(out, f, next_unsigned(rest, f), 16, false);
        break;
    case 'p':
        put_number(out, f, (uintptr_t)va_arg(rest->list, void *), 16, false);
        break;
    case 's':
        put_text(out, f, va_arg(rest->list, const char *));
        break;
    case 'c':
        put(out, (char)va_arg(rest->list, int));
        break;
    case 'e':
    case 'f':
    case 'g':
        (void)va_arg(rest->list, double);
        put_text(out, f, "(floating point)");
        break;
    default:
        put(out, letter);
        break;
    }
}

static void print(const char *text, arguments *rest)
{
    line out = {.length = 0};
    for (; *text != '\0'; text++) {
        if (*text == '%') {
            conversion f;
            text = read_conversion(text + 1, &f);
            put_argument(&out, &f, *text, rest);
        } else {
            put(&out, *text);
        }
    }
    flush(&out);
}

void print_message(const char *format, ...)
{
    arguments rest;
    va_start(rest.list, format);
    print(format, &rest);
    va_end(rest.list);
}

void print_error(const char *format, ...)
{
    arguments rest;
    va_start(rest.list, format);
    print(format, &rest);
    va_end(rest.list);
}
