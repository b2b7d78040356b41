/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdio.h>

/* Prints the date, the machine and the build; `before` begins each line. label: of the build, or
 * NULL. */
void machine_print(FILE *to, const char *before, const char *label);

#endif
