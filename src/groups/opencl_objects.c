/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of <dynsel/opencl.h> for programs with OpenCL objects of their own, which need both the
 * backend and what stands above it. */
#include <dynsel/command_group.h>
#include <dynsel/memory.h>
#include <dynsel/opencl.h>

#include "base/fail.h"
#include "port/context.h"

#if CONFIG_DYNSEL_DEVICE_BUFFERS
#include "backends/opencl/adopt_memory.h"

dynsel_status dynsel_opencl_buffer_init(dynsel_buffer *buffer, cl_mem memory, void *data,
                                        size_t element_bytes, dynsel_range range)
{
    dynsel_device_memory taken;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (memory == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the memory object is NULL");
    }
    dynsel_status status = dynsel_opencl_take_memory(memory, data, element_bytes, &range, &taken);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = dynsel_buffer_init_over(buffer, &taken, element_bytes, range);
    if (status != DYNSEL_OK) {
        taken.backend->ops->memory->release(taken.backend, taken.own, &taken.memory);
    }
    return status;
}
#endif

#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0
#include "backends/opencl/external_events.h"

dynsel_status dynsel_opencl_depend_on(dynsel_handler *handler, cl_event event)
{
    return dynsel_depend_on_external(handler, &dynsel_opencl_external_events,
                                     (dynsel_event){.opencl = event});
}
#endif
