/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that fills a buffer so that each word tells its place and the number of the work. */
#ifndef DYNSEL_TESTS_OPENCL_FILL_KERNEL_H
#define DYNSEL_TESTS_OPENCL_FILL_KERNEL_H

#include <dynsel/dynsel.h>

enum { WORDS = 1024 /* of a buffer */ };

static inline dynsel_status fill_on_host(const dynsel_launch *launch)
{
    uint32_t *const data = dynsel_launch_data(launch, 0);
    for (uint32_t i = 0; i < WORDS; i++) {
        data[i] = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t) * WORDS + i;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel fill = {.name = "fill",
                                   .function = fill_on_host,
                                   .source = "kernel void fill(global uint *words, uint number)\n"
                                             "{ words[get_global_id(0)] = number * 1024\n"
                                             "  + get_global_id(0); }\n"};

#endif
