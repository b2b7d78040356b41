/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms and devices. */
#include "fakes/fake_opencl_state.h"

#include <string.h>

enum { QUERY_UUID = 0x106A, QUERY_PCI_BUS_INFO = 0x410F };

cl_device_id fake_opencl_device(const char *name)
{
    cl_uint i = 0;
    while (strcmp(fake_state.devices[i].shown->name, name) != 0) {
        i++;
    }
    return &fake_state.devices[i];
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    const cl_int code = fake_enter("clGetPlatformIDs");
    if (code != CL_SUCCESS || fake_state.platforms_code != CL_SUCCESS) {
        return code != CL_SUCCESS ? code : fake_state.platforms_code;
    }
    cl_uint listed = 0;
    while (listed < fake_state.platform_count && !fake_state.platforms[listed].shown->is_hidden) {
        if (listed < room) {
            platforms[listed] = &fake_state.platforms[listed];
        }
        listed++;
    }
    *count = listed;
    return CL_SUCCESS;
}

static cl_int answer_version(const char *version, size_t bytes, void *to, size_t *answered)
{
    if (version == NULL) {
        version = "OpenCL 1.2 fake";
    }
    return version[0] != '\0' ? fake_reply_text(version, bytes, to, answered) : CL_INVALID_VALUE;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t bytes, void *to,
                         size_t *answered)
{
    const cl_int code = fake_enter("clGetPlatformInfo");
    if (code != CL_SUCCESS) {
        return code;
    }
    if (platform == NULL) {
        return CL_INVALID_PLATFORM;
    }
    if (what == CL_PLATFORM_VERSION) {
        return answer_version(platform->shown->version, bytes, to, answered);
    }
    return what == CL_PLATFORM_NAME ? fake_reply_text(platform->shown->name, bytes, to, answered)
                                    : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id *devices, cl_uint *count)
{
    const cl_int code = fake_enter("clGetDeviceIDs");
    if (code != CL_SUCCESS || platform->shown->code != CL_SUCCESS) {
        return code != CL_SUCCESS ? code : platform->shown->code;
    }
    cl_uint found = 0;
    for (cl_uint i = 0; i < platform->shown->count; i++) {
        struct _cl_device_id *const device = &fake_state.devices[platform->first_device + i];
        const bool custom = device->shown->type == CL_DEVICE_TYPE_CUSTOM;
        if (custom != (type == CL_DEVICE_TYPE_CUSTOM) || device->shown->is_hidden) {
            continue;
        }
        if (found < room) {
            devices[found] = device;
        }
        found++;
    }
    *count = found;
    return found == 0 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

static const fake_answer *own_answer(const fake_device *shown, cl_device_info what)
{
    for (size_t i = 0; i < shown->answer_count; i++) {
        if (shown->answers[i].what == what) {
            return &shown->answers[i];
        }
    }
    return NULL;
}

static cl_int answer_place(const fake_device *shown, cl_device_info what, size_t bytes, void *to,
                           size_t *answered)
{
    if (what == QUERY_UUID && shown->uuid != 0) {
        uint8_t uuid[16];
        memset(uuid, shown->uuid, sizeof(uuid));
        return fake_reply(uuid, sizeof(uuid), bytes, to, answered);
    }
    if (what == QUERY_PCI_BUS_INFO && shown->bus != 0) {
        const cl_uint address[4] = {0, shown->bus, 0, 0};
        return fake_reply(address, sizeof(address), bytes, to, answered);
    }
    return CL_INVALID_VALUE;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *to,
                       size_t *answered)
{
    const cl_int code = fake_enter("clGetDeviceInfo");
    const fake_device *const shown = device->shown;
    const cl_bool available = shown->not_available ? CL_FALSE : CL_TRUE;
    const cl_bool compiler = shown->no_compiler ? CL_FALSE : CL_TRUE;
    const cl_uint units = 4;
    const cl_ulong memory = 1 << 30;
    if (code != CL_SUCCESS) {
        return code;
    }
    const fake_answer *const own = own_answer(shown, what);
    if (own != NULL) {
        const cl_int done = own->value == NULL
                                ? CL_SUCCESS
                                : fake_reply(own->value, own->bytes, bytes, to, answered);
        return own->code != CL_SUCCESS ? own->code : done;
    }
    switch (what) {
    case CL_DEVICE_PLATFORM:
        return fake_reply(&device->platform, sizeof(device->platform), bytes, to, answered);
    case CL_DEVICE_TYPE:
        return fake_reply(&shown->type, sizeof(shown->type), bytes, to, answered);
    case CL_DEVICE_AVAILABLE:
        return fake_reply(&available, sizeof(available), bytes, to, answered);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return fake_reply(&compiler, sizeof(compiler), bytes, to, answered);
    case CL_DEVICE_VENDOR_ID:
        return fake_reply(&shown->vendor_id, sizeof(shown->vendor_id), bytes, to, answered);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return fake_reply(&units, sizeof(units), bytes, to, answered);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return fake_reply(&memory, sizeof(memory), bytes, to, answered);
    case CL_DEVICE_NAME:
        return fake_reply_text(shown->name, bytes, to, answered);
    case CL_DEVICE_VENDOR:
        return fake_reply_text(shown->vendor, bytes, to, answered);
    case CL_DEVICE_VERSION:
        return answer_version(shown->version, bytes, to, answered);
    case CL_DRIVER_VERSION:
        return fake_reply_text("1.0", bytes, to, answered);
    default:
        return answer_place(shown, what, bytes, to, answered);
    }
}
