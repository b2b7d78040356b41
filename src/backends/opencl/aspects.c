/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The column `opencl` of <dynsel/aspects.def> consists of these queries:
 *
 *   NO               no OpenCL device has the aspect
 *   TYPE(bit)        the device has this type
 *   EMULATOR         the name of the device or platform is that of an emulator
 *   EXTENSION(name)  the driver lists this extension
 *   FLAG(query)      the answer is a number that is not 0
 *   BITS(query, b)   the answer has all of these bits
 *   TEXT(query, t)   the answer is a text that contains t
 *   SVM(b)           shared virtual memory with all of these capabilities
 *   USM(kind, b)     Intel's unified shared memory, for one kind of memory, with these capabilities
 *
 * A query that the driver refuses counts as no.
 */
#include "backends/opencl/aspects.h"

#include "backends/opencl/device_info.h"
#include "base/fail.h"
#include "base/text_slice.h"
#include "port/likely.h"

/* Newer than OpenCL 1.2, or of an extension: missing in the headers of some systems. */
enum {
    SVM_CAPABILITIES = 0x1053,
    IL_VERSION = 0x105B,
    MAX_NUM_SUB_GROUPS = 0x105C,
    WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT = 0x1068,
    GENERIC_ADDRESS_SPACE_SUPPORT = 0x1069,
    USM_HOST = 0x4190,
    USM_DEVICE = 0x4191,
    USM_SHARED = 0x4192,
    USM_SYSTEM = 0x4194
};

enum {
    SVM_COARSE_GRAIN_BUFFER = 1,
    SVM_FINE_GRAIN_BUFFER = 2,
    SVM_FINE_GRAIN_SYSTEM = 4,
    SVM_ATOMICS = 8,
    USM_ACCESS = 1,
    USM_CONCURRENT_ATOMIC = 8
};

bool dynsel_opencl_answers_flag(cl_device_id device, cl_device_info what)
{
    cl_uint value = 0;
    return dynsel_opencl_read_value(device, what, &value, sizeof(value)) && value != 0;
}

bool dynsel_opencl_answers_bits(cl_device_id device, cl_device_info what, cl_bitfield bits)
{
    cl_bitfield value = 0;
    return dynsel_opencl_read_value(device, what, &value, sizeof(value)) && (value & bits) == bits;
}

bool dynsel_opencl_answers_text(cl_device_id device, cl_device_info what, const char *part)
{
    return dynsel_text_contains(dynsel_opencl_read_answer(device, what),
                                dynsel_text_slice_of(part));
}

bool dynsel_opencl_lists_extension(cl_device_id device, const char *name)
{
    const char *text = dynsel_opencl_read_answer(device, CL_DEVICE_EXTENSIONS);
    while (*text != '\0') {
        dynsel_text_slice word = {.begin = text, .length = 0};
        while (*text != '\0' && *text != ' ') {
            text++;
            word.length++;
        }
        if (dynsel_text_equals(word, name)) {
            return true;
        }
        text += *text == ' ' ? 1 : 0;
    }
    return false;
}

#define NO                false
#define EMULATOR          entry->emulator
#define TYPE(bit)         ((entry->type & (bit)) != 0)
#define EXTENSION(name)   dynsel_opencl_lists_extension(entry->device, name)
#define FLAG(what)        dynsel_opencl_answers_flag(entry->device, what)
#define BITS(what, bits)  dynsel_opencl_answers_bits(entry->device, what, bits)
#define TEXT(what, part)  dynsel_opencl_answers_text(entry->device, what, part)
#define SVM(capabilities) BITS(SVM_CAPABILITIES, capabilities)
#define USM(kind, capabilities)                                                                    \
    (EXTENSION("cl_intel_unified_shared_memory") && BITS(kind, capabilities))

#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    static bool has_##name(const dynsel_opencl_entry *entry)                                       \
    {                                                                                              \
        (void)entry;                                                                               \
        return opencl;                                                                             \
    }
#include <dynsel/aspects.def>

DYNSEL_RARE dynsel_aspect_set dynsel_opencl_read_aspects(const dynsel_opencl_entry *entry)
{
    dynsel_aspect_set found = 0;
    (void)entry; /* without any aspect */
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    found |= (dynsel_aspect_set)has_##name(entry) << DYNSEL_ASPECT_##name;
#include <dynsel/aspects.def>
    return found;
}

dynsel_status dynsel_opencl_describe(dynsel_backend *backend, const void *handle,
                                     dynsel_device *device)
{
    const dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(handle);
    (void)backend;
    if (entry == NULL) {
        return dynsel_opencl_refuse_handle();
    }
    device->platform = dynsel_opencl_platform_name(entry);
    device->vendor = entry->vendor;
    device->name = entry->name;
    device->driver = entry->driver_version;
    device->type = dynsel_opencl_type_name(entry->type);
    device->aspects = entry->aspects;
    device->processors = (entry->type & CL_DEVICE_TYPE_CPU) != 0 ? entry->compute_units : 0;
    return DYNSEL_OK;
}
