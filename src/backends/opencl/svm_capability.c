/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/svm_capability.h"

#include "backends/opencl/device_state.h"
#include "backends/opencl/function_lookup.h"
#include "port/likely.h"

/* Of OpenCL 2.0. */
enum { SVM_CAPABILITIES = 0x1053 };
enum { COARSE_GRAIN_BUFFER = 1, FINE_GRAIN_BUFFER = 2, FINE_GRAIN_SYSTEM = 4 };

/* In entry->sharing, above the dynsel_sharing: the driver has answered. */
enum { ASKED = 0x100 };

/* Under the lock. Returns the value of entry->sharing; 0: the driver failed, and is asked again. */
static uint32_t ask(dynsel_opencl_entry *entry)
{
    cl_bitfield bits = 0;
    size_t answered = sizeof(bits);
    const cl_int code =
        dynsel_opencl_is_lost(entry)
            ? CL_INVALID_VALUE
            : clGetDeviceInfo(entry->device, SVM_CAPABILITIES, sizeof(bits), &bits, &answered);
    if (code != CL_SUCCESS || answered != sizeof(bits)) {
        /* Drivers before OpenCL 2.0 refuse the query, or leave the answer empty. */
        return code == CL_INVALID_VALUE || code == CL_SUCCESS ? ASKED : 0;
    }
    if (bits != 0) {
        entry->set_pointer = (dynsel_opencl_set_pointer_fn)dynsel_opencl_find_function(
            entry->device, "clSetKernelArgSVMPointer");
    }
    /* Old loaders lack all functions of shared virtual memory, so a lookup of one is enough. */
    dynsel_sharing sharing = DYNSEL_SHARES_NOTHING;
    bits = entry->set_pointer != NULL ? bits : 0;
    if ((bits & FINE_GRAIN_SYSTEM) != 0) {
        sharing = DYNSEL_SHARES_ALL;
    } else if ((bits & FINE_GRAIN_BUFFER) != 0) {
        sharing = DYNSEL_SHARES_ALLOCATED;
    } else if ((bits & COARSE_GRAIN_BUFFER) != 0) {
        sharing = DYNSEL_SHARES_MAPPED;
    }
    return ASKED | (uint32_t)sharing;
}

dynsel_sharing dynsel_opencl_sharing(dynsel_backend *backend, void *own)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(own);
    (void)backend;
    if (entry == NULL) {
        return DYNSEL_SHARES_NOTHING;
    }
    uint32_t known = dynsel_word_load_acquire(&entry->sharing);
    if (!DYNSEL_LIKELY(known != 0)) {
        dynsel_lock_acquire(&dynsel_opencl_lock);
        known = dynsel_word_load_relaxed(&entry->sharing);
        if (known == 0) {
            known = ask(entry);
            dynsel_word_store_release(&entry->sharing, known);
        }
        dynsel_lock_release(&dynsel_opencl_lock);
    }
    return (dynsel_sharing)(known & ~(uint32_t)ASKED);
}

cl_int dynsel_opencl_set_pointer(const dynsel_opencl_entry *entry, cl_kernel kernel, cl_uint index,
                                 const void *pointer)
{
    if (pointer == NULL) {
        return clSetKernelArg(kernel, index, sizeof(cl_mem), NULL);
    }
    return entry->set_pointer != NULL ? entry->set_pointer(kernel, index, pointer)
                                      : CL_INVALID_OPERATION;
}
