/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdio.h>

/* Prints the date, the machine and its processors; `before` begins each line. */
void machine_print(FILE *to, const char *before);

#endif
