/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's objects behind a resource. */
#include <dynsel/opencl.h>

#include "backends/opencl/device.h"
#include "base/fail.h"

/* The resource's handle is an entry, or the user's own queue when it was adopted. */
static dynsel_opencl_entry *entry_of(const dynsel_resource *where, const char *function)
{
    dynsel_opencl_entry *entry = NULL;
    if (where != NULL && where->backend == &dynsel_opencl_backend) {
        entry = dynsel_opencl_entry_at(where->handle);
        if (entry == NULL) {
            entry = dynsel_opencl_entry_of_queue(where->handle);
        }
    }
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
    dynsel_opencl_entry *const entry = entry_of(where, function);
    return entry != NULL && dynsel_opencl_open(entry) == DYNSEL_OK ? entry : NULL;
}

cl_command_queue dynsel_opencl_queue(const dynsel_resource *where)
{
    const dynsel_opencl_entry *const entry = open_entry_of(where, __func__);
    return entry != NULL ? entry->queue : NULL;
}

cl_context dynsel_opencl_context(const dynsel_resource *where)
{
    const dynsel_opencl_entry *const entry = open_entry_of(where, __func__);
    return entry != NULL ? entry->context : NULL;
}

cl_device_id dynsel_opencl_device(const dynsel_resource *where)
{
    const dynsel_opencl_entry *const entry = entry_of(where, __func__);
    return entry != NULL ? entry->device : NULL;
}
