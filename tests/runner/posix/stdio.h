/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without an operating system: there is the console. */
#ifndef DYNSEL_TESTS_POSIX_STDIO_H
#define DYNSEL_TESTS_POSIX_STDIO_H

#include "runner/runner.h"

#define printf print_message

#endif
