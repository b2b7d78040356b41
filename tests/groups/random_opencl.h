/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of command groups over the host and OpenCL devices, against an interpreter:
 * everything equal bit for bit. The last device is used a second time, through queues in a context
 * of the test's own, one of them out of order where it can be: so data cross contexts even where
 * all devices share one.
 *
 * DYNSEL_TEST_SEED repeats a run. DYNSEL_EXPECT_DEVICES says how many devices there must be; unset:
 * any number.
 */
#ifndef DYNSEL_TESTS_MEMORY_RANDOM_OPENCL_H
#define DYNSEL_TESTS_MEMORY_RANDOM_OPENCL_H

#include <stdbool.h>

/* Set-up and tear-down of cmocka. */
int random_opencl_begin(void **state);
int random_opencl_end(void **state);

/* after: called after each program; false: something was wrong. NULL: nothing to look at. */
void random_opencl_play(unsigned programs, bool (*after)(void));

#endif
