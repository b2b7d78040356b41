/* SPDX-License-Identifier: Apache-2.0 */
/* To the board's console, without stdio. */
#ifndef EXAMPLES_FIRMWARE_PRINT_H
#define EXAMPLES_FIRMWARE_PRINT_H

#include <stdint.h>

void print(const char *text);

/* On the left of a column, and on the right of one; a width of 0 is as wide as needed. */
void print_text(const char *text, unsigned width);
void print_number(uint32_t number, unsigned width);

#endif
