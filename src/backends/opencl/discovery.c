/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/discovery.h"

#include "backends/opencl/aspects.h"
#include "backends/opencl/codes.h"
#include "backends/opencl/describe.h"
#include "backends/opencl/device.h"
#include "backends/opencl/identity.h"
#include "base/fail.h"
#include "port/atomic.h"

static dynsel_opencl_table *const table = &dynsel_opencl_known;

static bool is_in_table(cl_device_id device)
{
    for (uint32_t i = 0; i < table->found; i++) {
        if (table->entries[i].device == device) {
            return true;
        }
    }
    return false;
}

/* Returns how many of them are new, also when they do not fit. */
static cl_uint add_devices(uint32_t platform, const cl_device_id *devices, cl_uint count)
{
    cl_uint added = 0;
    for (cl_uint i = 0; i < count; i++) {
        if (is_in_table(devices[i])) {
            continue;
        }
        added++;
        if (table->found < CONFIG_DYNSEL_OPENCL_MAX_DEVICES) {
            dynsel_opencl_entry *const entry = &table->entries[table->found++];
            entry->device = devices[i];
            entry->platform = platform;
            dynsel_opencl_describe_device(entry);
        }
    }
    return added;
}

/* The driver's answer in `code`; returns how many devices were not known before. */
static cl_uint list_devices(uint32_t platform, cl_device_type type, cl_int *code)
{
    cl_device_id devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    const cl_uint room = CONFIG_DYNSEL_OPENCL_MAX_DEVICES;
    cl_uint count = 0;
    *code = clGetDeviceIDs(table->platforms[platform].id, type, room, devices, &count);
    if (*code != CL_SUCCESS) {
        return 0;
    }
    const cl_uint listed = count < room ? count : room;
    return add_devices(platform, devices, listed) + (count - listed);
}

/* A driver that fails here only loses its own devices. */
static void look_into_platform(uint32_t index)
{
    dynsel_opencl_platform *const platform = &table->platforms[index];
    cl_int custom_code;
    dynsel_opencl_describe_platform(platform);
    platform->device_count = list_devices(index, CL_DEVICE_TYPE_ALL, &platform->code);
    /* "All" leaves out the custom ones, and drivers older than OpenCL 1.2 do not know the type. */
    platform->device_count += list_devices(index, CL_DEVICE_TYPE_CUSTOM, &custom_code);
    table->devices_there += platform->device_count;
}

static void look_for_devices(const cl_platform_id *ids)
{
    for (uint32_t i = 0; i < table->platform_count; i++) {
        table->platforms[i] = (dynsel_opencl_platform){.id = ids[i]};
        look_into_platform(i);
    }
    dynsel_opencl_identify(table);
    dynsel_opencl_find_domains();
#if CONFIG_DYNSEL_ASPECTS
    for (uint32_t i = 0; i < table->found; i++) {
        table->entries[i].aspects = dynsel_opencl_read_aspects(&table->entries[i]);
    }
#endif
    table->discovered = true;
    dynsel_word_store_release(&table->known, table->found);
}

/* Loaders without a driver answer in their own ways; only a lack of memory is a failure. */
static dynsel_status look_for_platforms(const char *function)
{
    cl_platform_id ids[CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS];
    cl_uint count = 0;
    const cl_int code = clGetPlatformIDs(CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS, ids, &count);
    if (code == CL_OUT_OF_HOST_MEMORY) {
        (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
        return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_DEVICE,
                                                 .code = code,
                                                 .function = DYNSEL_TEXT("clGetPlatformIDs"),
                                                 .subject = DYNSEL_TEXT(function),
                                                 .detail = DYNSEL_TEXT("CL_OUT_OF_HOST_MEMORY")});
    }
    table->platforms_there = code == CL_SUCCESS ? count : 0;
    table->platform_count = table->platforms_there < CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS
                                ? table->platforms_there
                                : CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS;
    look_for_devices(ids);
    return DYNSEL_OK;
}

static dynsel_status full(const char *function, const char *detail, uint32_t number)
{
    (void)function;
    (void)detail;
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_FULL,
                                             .function = DYNSEL_TEXT(function),
                                             .detail = DYNSEL_TEXT(detail),
                                             .number = number});
}

dynsel_status dynsel_opencl_discover(const char *function)
{
    if (!table->discovered) {
        const dynsel_status status = look_for_platforms(function);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    if (table->platforms_there > table->platform_count) {
        return full(function,
                    "there are {} OpenCL platforms: raise CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS",
                    table->platforms_there);
    }
    if (table->devices_there > CONFIG_DYNSEL_OPENCL_MAX_DEVICES) {
        return full(function, "there are {} OpenCL devices: raise CONFIG_DYNSEL_OPENCL_MAX_DEVICES",
                    table->devices_there);
    }
    return DYNSEL_OK;
}
