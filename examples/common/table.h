/* SPDX-License-Identifier: Apache-2.0 */
/** What the tables of reports share. */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stddef.h>
#include <stdint.h>

/** Columns of the terminal at stdout; `otherwise`, if it is none. */
int table_columns(int otherwise);

/** Cuts a long name to `width` characters so that its end, where the model's number is, can still
 * be seen. */
void table_fit(char *out, size_t size, const char *name, int width);

/** How many percent of `whole` a part is. */
double table_percent(uint64_t part, uint64_t whole);

/** Millions of pixels a second. */
double table_speed(uint64_t pixels, uint64_t ns);

#endif
