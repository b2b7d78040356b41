/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/default_memory.h"

#if CONFIG_DYNSEL_BACKEND_OPENCL
#include "backends/opencl/device_memory.h"
#endif

const dynsel_memory_ops *const dynsel_default_memory[] = {
#if CONFIG_DYNSEL_BACKEND_OPENCL
    &dynsel_opencl_memory,
#endif
    NULL,
};
