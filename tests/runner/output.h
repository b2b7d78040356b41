/* SPDX-License-Identifier: Apache-2.0 */
/* Where the runner's words go: a file for hosts, one for bare metal. */
#ifndef DYNSEL_TESTS_RUNNER_OUTPUT_H
#define DYNSEL_TESTS_RUNNER_OUTPUT_H

#include <stddef.h>

void runner_write(const char *text, size_t length);

#endif
