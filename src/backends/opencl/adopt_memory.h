/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects of the program, as the homes of buffers. */
#ifndef DYNSEL_BACKENDS_OPENCL_ADOPT_MEMORY_H
#define DYNSEL_BACKENDS_OPENCL_ADOPT_MEMORY_H

#include <dynsel/memory.h>
#include <dynsel/opencl.h>

/* Checks and retains the object; `release` of the memory operations releases it. Otherwise as
 * dynsel_opencl_buffer_init(). range: in and out, taken from the object if it has no dimension. */
dynsel_status dynsel_opencl_take_memory(cl_mem memory, void *data, size_t element_bytes,
                                        dynsel_range *range, dynsel_device_memory *taken);

#endif
