/* SPDX-License-Identifier: Apache-2.0 */
/** Texts of drivers: bytes that are UTF-8 or not, with anything in them. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BAD 0xFFFDu

/** The next character, and `*at` behind it; TEXT_BAD for a byte that is not UTF-8, 0 at the end. */
uint32_t text_next(const char **at);

/** How many columns a clean text takes, each character one. */
size_t text_columns(const char *text);

/** Copies the longest part of printable ASCII, without blanks around it; empty where none is. */
void text_plain_part(char *to, size_t bytes, const char *text);

#endif
