/* SPDX-License-Identifier: Apache-2.0 */
#include "print.h"

#include "board.h"

static void blanks(unsigned count)
{
    for (; count > 0; count--) {
        board_write(" ", 1);
    }
}

static unsigned length_of(const char *text)
{
    unsigned length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

void print(const char *text)
{
    board_write(text, length_of(text));
}

void print_text(const char *text, unsigned width)
{
    const unsigned length = length_of(text);
    print(text);
    blanks(width > length ? width - length : 0);
}

void print_number(uint32_t number, unsigned width)
{
    char digits[11];
    unsigned first = sizeof digits - 1;
    digits[first] = '\0';
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    const unsigned length = (unsigned)sizeof digits - 1 - first;
    blanks(width > length ? width - length : 0);
    print(digits + first);
}
