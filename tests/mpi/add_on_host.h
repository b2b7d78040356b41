/* SPDX-License-Identifier: Apache-2.0 */
/* The host's form of a kernel that adds its second argument to each word of the first. */
#ifndef DYNSEL_TESTS_MPI_ADD_ON_HOST_H
#define DYNSEL_TESTS_MPI_ADD_ON_HOST_H

#include <dynsel/dynsel.h>

static inline dynsel_status add_on_host(const dynsel_launch *launch)
{
    uint32_t *const words = dynsel_launch_data(launch, 0);
    const uint32_t value = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        words[launch->offset.size[0] + i] += value;
    }
    return DYNSEL_OK;
}

#endif
