/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

size_t soak_open_devices(dynsel_resource *resources, size_t count, size_t capacity)
{
    (void)resources;
    (void)capacity;
    return count;
}

dynsel_status soak_enqueue(const dynsel_resource *where, dynsel_event *done)
{
    (void)where;
    (void)done;
    return DYNSEL_E_UNSUPPORTED;
}

uint64_t soak_count_kernels(void)
{
    return 0;
}

int soak_close_devices(void)
{
    return 1;
}
