/* SPDX-License-Identifier: Apache-2.0 */
/* The host, and the OpenCL devices of this machine. DYNSEL_EXPECT_DEVICES says how many of these
 * there must be; unset: any number. */
#ifndef DYNSEL_TESTS_SERVING_RESOURCES_H
#define DYNSEL_TESTS_SERVING_RESOURCES_H

#include <stdio.h>
#include <stdlib.h>

#include <dynsel/dynsel.h>

enum { TEST_MOST_RESOURCES = CONFIG_DYNSEL_MPI_RANK_RESOURCES };

static dynsel_resource test_resources[TEST_MOST_RESOURCES];
static uint32_t test_resource_count;

static inline void test_find_resources(void)
{
    test_resources[0] = (dynsel_resource){.backend = &dynsel_inline_backend};
    test_resource_count = 1;
#if CONFIG_DYNSEL_BACKEND_OPENCL
    const char *const expected = getenv("DYNSEL_EXPECT_DEVICES");
    size_t count = 0;
    if (dynsel_opencl_select("all", test_resources + 1, TEST_MOST_RESOURCES - 1, &count) !=
        DYNSEL_OK) {
        count = 0;
    }
    test_resource_count += (uint32_t)count;
    if (expected != NULL && strtoul(expected, NULL, 10) != count) {
        (void)fprintf(stderr, "%zu devices instead of %s\n", count, expected);
        exit(1);
    }
#endif
}

#endif
