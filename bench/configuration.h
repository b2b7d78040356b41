/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CONFIGURATION_H
#define BENCH_CONFIGURATION_H

#include <stdio.h>

/* Prints the compiler and the configuration of the build; `before` begins each line. label: of the
 * build, or NULL. */
void configuration_print(FILE *to, const char *before, const char *label);

#endif
