/* SPDX-License-Identifier: Apache-2.0 */
/** The output file: it appears under its name when it is complete, or not at all, also when the
 * program is interrupted. One at a time. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/** Opens a temporary file beside `path`. NULL: stderr says why. */
FILE *output_open(const char *path);

/** Closes the file and gives it its name. False: it was removed, and stderr says why. */
bool output_commit(void);

/** Closes and removes the file, if there is one. */
void output_discard(void);

#endif
