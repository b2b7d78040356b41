/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include "mix_kernels.h"

typedef void (*plain)(const uint32_t *in, void *out, uint32_t elements, uint32_t operations);

static dynsel_status on_host(const dynsel_launch *launch, plain function)
{
    function(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
             DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t), DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t));
    return DYNSEL_OK;
}

static dynsel_status polynomial_on_host(const dynsel_launch *launch)
{
    return on_host(launch, mix_polynomial);
}

static dynsel_status scramble_on_host(const dynsel_launch *launch)
{
    return on_host(launch, mix_scramble);
}

static dynsel_status gather_on_host(const dynsel_launch *launch)
{
    return on_host(launch, mix_gather);
}

const dynsel_kernel usecase_kernels[MIX_KERNELS] = {
    {.name = "polynomial", .id = 1, .function = polynomial_on_host, .source = MIX_POLYNOMIAL},
    {.name = "scramble", .id = 2, .function = scramble_on_host, .source = MIX_SCRAMBLE},
    {.name = "gather", .id = 3, .function = gather_on_host, .source = MIX_GATHER},
};
