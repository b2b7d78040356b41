/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without an operating system: variables stand on the emulator's command line. */
#ifndef DYNSEL_TESTS_POSIX_STDLIB_H
#define DYNSEL_TESTS_POSIX_STDLIB_H

#include <stddef.h>

/* Of an argument NAME=value the value, up to the next blank; NULL when there is none. */
const char *getenv(const char *name);

/* Decimal only, as in the variables of tests. */
unsigned long long strtoull(const char *text, char **end, int base);

#endif
