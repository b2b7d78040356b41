/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/svm.h"

#include "backends/opencl/describe.h"
#include "backends/opencl/device.h"

enum { SVM_CAPABILITIES = 0x1053 }; /* of OpenCL 2.0 */

enum { COARSE_GRAIN_BUFFER = 1, FINE_GRAIN_BUFFER = 2, FINE_GRAIN_SYSTEM = 4 };

/* In entry->sharing: what is there was asked for. */
enum { ASKED = 0x100 };

/* Weak: NULL where the loader has no OpenCL 2.0. Loaders do not give these as functions of an
 * extension, and the library's headers are those of OpenCL 1.2. */
extern cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index,
                                                   const void *pointer) __attribute__((weak));

static dynsel_sharing ask(const dynsel_opencl_entry *entry)
{
    cl_bitfield bits = 0;
    if (clSetKernelArgSVMPointer == NULL ||
        !dynsel_opencl_read_value(entry->device, SVM_CAPABILITIES, &bits, sizeof(bits))) {
        return DYNSEL_SHARES_NOTHING;
    }
    if ((bits & FINE_GRAIN_SYSTEM) != 0) {
        return DYNSEL_SHARES_ALL;
    }
    if ((bits & FINE_GRAIN_BUFFER) != 0) {
        return DYNSEL_SHARES_ALLOCATED;
    }
    return (bits & COARSE_GRAIN_BUFFER) != 0 ? DYNSEL_SHARES_MAPPED : DYNSEL_SHARES_NOTHING;
}

dynsel_sharing dynsel_opencl_sharing(dynsel_backend *backend, void *own)
{
    dynsel_opencl_entry *entry = dynsel_opencl_entry_at(own);
    (void)backend;
    if (entry == NULL) {
        entry = dynsel_opencl_entry_of_queue(own);
    }
    if (entry == NULL) {
        return DYNSEL_SHARES_NOTHING;
    }
    uint32_t known = dynsel_word_load_relaxed(&entry->sharing);
    if (known == 0) {
        if (dynsel_opencl_is_lost(entry)) {
            return DYNSEL_SHARES_NOTHING;
        }
        known = ASKED | (uint32_t)ask(entry);
        dynsel_word_store_relaxed(&entry->sharing, known);
    }
    return (dynsel_sharing)(known & ~(uint32_t)ASKED);
}

cl_int dynsel_opencl_set_pointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
    return pointer != NULL ? clSetKernelArgSVMPointer(kernel, index, pointer)
                           : clSetKernelArg(kernel, index, sizeof(cl_mem), NULL);
}
