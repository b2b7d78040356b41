/* SPDX-License-Identifier: Apache-2.0 */
/* The printable part of a foreign text: names of devices come from drivers and may contain
 * anything, also escape sequences. */
#ifndef DYNSEL_BASE_PRINTABLE_H
#define DYNSEL_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the first character of a text that is not empty has, as UTF-8; 1 for a byte that
 * is not. printable: out; false for such a byte, for control characters, and for those that turn
 * the direction of writing or have no shape. */
size_t dynsel_text_next(const char *text, bool *printable);

#endif
