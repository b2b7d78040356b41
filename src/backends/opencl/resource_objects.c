/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL objects of a resource: queue, context, device; and programs with the prelude, which
 * tells kernels the aspects of this build's devices. */
#include "backends/opencl/resource_objects.h"

#include <dynsel/opencl.h>

#include "backends/opencl/device_state.h"
#include "backends/opencl/timing.h"
#include "base/fail.h"
#include "port/context.h"

dynsel_opencl_entry *dynsel_opencl_entry_of_resource(const dynsel_resource *where,
                                                     const char *function)
{
    dynsel_opencl_entry *const entry = where != NULL && where->backend == &dynsel_opencl_backend
                                           ? dynsel_opencl_entry_of_handle(where->handle)
                                           : NULL;
    if (entry == NULL) {
        (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
        (void)dynsel_fail(&(const dynsel_error){
            .status = DYNSEL_E_INVALID,
            .function = DYNSEL_TEXT(function),
            .detail = DYNSEL_TEXT("not a resource of the OpenCL backend, or from before "
                                  "dynsel_opencl_close()")});
    }
    return entry;
}

static const dynsel_opencl_entry *open_entry_of(const dynsel_resource *where, const char *function)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_resource(where, function);
    return entry != NULL && dynsel_opencl_open(entry) == DYNSEL_OK ? entry : NULL;
}

cl_command_queue dynsel_opencl_queue(const dynsel_resource *where)
{
    const dynsel_opencl_entry *const entry = open_entry_of(where, __func__);
    if (entry == NULL) {
        return NULL;
    }
    dynsel_opencl_mark_begin(entry); /* task functions ask before they enqueue */
    return dynsel_opencl_queue_now(entry);
}

cl_context dynsel_opencl_context(const dynsel_resource *where)
{
    const dynsel_opencl_entry *const entry = open_entry_of(where, __func__);
    return entry != NULL ? entry->context : NULL;
}

cl_device_id dynsel_opencl_device(const dynsel_resource *where)
{
    const dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_resource(where, __func__);
    return entry != NULL ? entry->device : NULL;
}

const char dynsel_opencl_prelude[] =
#include "generated/opencl_prelude.inc"
    ;

cl_program dynsel_opencl_program(const dynsel_resource *where, const char *source)
{
    if (dynsel_in_interrupt()) {
        return NULL;
    }
    if (source == NULL) {
        (void)DYNSEL_FAIL(DYNSEL_E_INVALID, "the source is NULL");
        return NULL;
    }
    const cl_context context = dynsel_opencl_context(where);
    if (context == NULL) {
        return NULL;
    }
    const char *texts[] = {dynsel_opencl_prelude, source};
    cl_int code = CL_SUCCESS;
    const cl_program program = clCreateProgramWithSource(context, 2, texts, NULL, &code);
    return dynsel_opencl_check("clCreateProgramWithSource", code) == DYNSEL_OK ? program : NULL;
}
