/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/svm.h"

#include "backends/opencl/describe.h"
#include "backends/opencl/device.h"
#include "backends/opencl/failure.h"
#include "backends/opencl/functions.h"
#include "base/fail.h"

enum { SVM_CAPABILITIES = 0x1053 }; /* of OpenCL 2.0 */

enum { COARSE_GRAIN_BUFFER = 1, FINE_GRAIN_BUFFER = 2, FINE_GRAIN_SYSTEM = 4 };

/* In entry->sharing: what is there was asked for. */
enum { ASKED = 0x100 };

static dynsel_sharing best_of(cl_bitfield bits)
{
    if ((bits & FINE_GRAIN_SYSTEM) != 0) {
        return DYNSEL_SHARES_ALL;
    }
    if ((bits & FINE_GRAIN_BUFFER) != 0) {
        return DYNSEL_SHARES_ALLOCATED;
    }
    return (bits & COARSE_GRAIN_BUFFER) != 0 ? DYNSEL_SHARES_MAPPED : DYNSEL_SHARES_NOTHING;
}

/* Under the lock. Old loaders lack all of its functions, so one is as good as all. 0: the driver
 * did not tell, and is asked again. */
static uint32_t ask(dynsel_opencl_entry *entry)
{
    cl_bitfield bits = 0;
    size_t answered = sizeof(bits);
    const cl_int code =
        dynsel_opencl_is_lost(entry)
            ? CL_INVALID_VALUE
            : clGetDeviceInfo(entry->device, SVM_CAPABILITIES, sizeof(bits), &bits, &answered);
    if (code != CL_SUCCESS || answered != sizeof(bits)) {
        return code == CL_INVALID_VALUE || code == CL_SUCCESS ? ASKED
                                                              : 0; /* not known before OpenCL 2.0 */
    }
    if (bits != 0) {
        entry->set_pointer = (dynsel_opencl_set_pointer_fn)dynsel_opencl_find_function(
            entry->device, "clSetKernelArgSVMPointer");
    }
    return ASKED | (uint32_t)(entry->set_pointer != NULL ? best_of(bits) : DYNSEL_SHARES_NOTHING);
}

static uint32_t ask_once(dynsel_opencl_entry *entry)
{
    dynsel_lock_acquire(&dynsel_opencl_lock);
    uint32_t known = dynsel_word_load_relaxed(&entry->sharing);
    if (known == 0) {
        known = ask(entry);
        dynsel_word_store_release(&entry->sharing, known);
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return known;
}

dynsel_sharing dynsel_opencl_sharing(dynsel_backend *backend, void *own)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_known_as(own);
    (void)backend;
    if (entry == NULL) {
        return DYNSEL_SHARES_NOTHING;
    }
    const uint32_t known = dynsel_word_load_acquire(&entry->sharing);
    return (dynsel_sharing)((known != 0 ? known : ask_once(entry)) & ~(uint32_t)ASKED);
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
