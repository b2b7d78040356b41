/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/discovery.h"

#include <string.h>

#include "backends/opencl/aspects.h"
#include "backends/opencl/device_info.h"
#include "backends/opencl/device_state.h"
#include "base/fail.h"
#include "policy/after_fork.h"
#include "port/atomic.h"
#include "port/likely.h"

typedef dynsel_opencl_entry entry;
typedef bool (*likeness)(const entry *a, const entry *b);

static dynsel_opencl_table *const table = &dynsel_opencl_known;

#if CONFIG_DYNSEL_CONTEXT_THREADS
static bool used;           /* the drivers */
static bool used_by_parent; /* before a fork(): their threads are not in this process */

/* In the child of a fork(). Calls no driver. */
static void forget(void)
{
    dynsel_lock_renew(&dynsel_opencl_lock);
    used_by_parent = used;
    if (used_by_parent) {
        (void)memset(table, 0, sizeof(*table));
    }
}

void (*const dynsel_fork_opencl)(void) = forget;

/* Before drivers are called. */
static dynsel_status note_use(const char *function)
{
    if (used_by_parent) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_NO_RESOURCE,
                              "the parent of this process has used OpenCL, and drivers do not "
                              "survive fork(): call fork() before the first use, or exec after it",
                              0);
    }
    dynsel_fork_watch();
    used = true;
    return DYNSEL_OK;
}

#else

static dynsel_status note_use(const char *function)
{
    (void)function;
    return DYNSEL_OK;
}

#endif

static bool is_in_table(cl_device_id device)
{
    for (uint32_t i = 0; i < table->found; i++) {
        if (table->entries[i].device == device) {
            return true;
        }
    }
    return false;
}

/* Adds the platform's devices of one type to the table and describes them. Returns the number of
 * new devices, with those that do not fit; code: out, the driver's answer. */
static cl_uint add_devices(uint32_t platform, cl_device_type type, cl_int *code)
{
    cl_device_id devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    const cl_uint room = CONFIG_DYNSEL_OPENCL_MAX_DEVICES;
    cl_uint count = 0;
    *code = clGetDeviceIDs(table->platforms[platform].id, type, room, devices, &count);
    if (*code != CL_SUCCESS) {
        return 0;
    }
    const cl_uint listed = count < room ? count : room;
    cl_uint added = count - listed;
    for (cl_uint i = 0; i < listed; i++) {
        if (is_in_table(devices[i])) {
            continue;
        }
        added++;
        if (table->found < room) {
            entry *const device = &table->entries[table->found++];
            device->device = devices[i];
            device->platform = platform;
            dynsel_opencl_describe_device(device);
        }
    }
    return added;
}

static bool same_uuid(const entry *a, const entry *b)
{
    return a->hardware.has_uuid && b->hardware.has_uuid &&
           memcmp(a->hardware.uuid, b->hardware.uuid, sizeof(a->hardware.uuid)) == 0;
}

static bool same_pci(const entry *a, const entry *b)
{
    return a->hardware.has_pci && b->hardware.has_pci &&
           memcmp(a->hardware.pci, b->hardware.pci, sizeof(a->hardware.pci)) == 0;
}

static bool same_name(const entry *a, const entry *b)
{
    return a->vendor_id == b->vendor_id && strcmp(a->name, b->name) == 0;
}

/* The number of devices before this one on its own platform that are alike. Tiles and partitions of
 * a GPU have one address, and equal cards one name: the first of them on one platform is the first
 * on the other, the second the second. */
static uint32_t rank(const entry *device, likeness alike)
{
    uint32_t before = 0;
    for (const entry *other = table->entries; other != device; other++) {
        if (other->platform == device->platform && alike(other, device)) {
            before++;
        }
    }
    return before;
}

static bool matches(const entry *a, const entry *b, likeness alike)
{
    return alike(a, b) && rank(a, alike) == rank(b, alike);
}

static bool is_same_device(const entry *a, const entry *b)
{
    /* Two devices of one platform always differ, and an emulator is no hardware. */
    if (a->platform == b->platform || a->emulator || b->emulator) {
        return false;
    }
    /* Each CPU device is the processors of the host, and each driver invents its own UUID. */
    if ((a->type & b->type & CL_DEVICE_TYPE_CPU) != 0) {
        return true;
    }
    if (matches(a, b, same_uuid)) {
        return true;
    }
    if (a->hardware.has_pci && b->hardware.has_pci) {
        return matches(a, b, same_pci);
    }
    if (a->hardware.has_uuid && b->hardware.has_uuid) {
        return false;
    }
    return matches(a, b, same_name);
}

static void find_twins(void)
{
    for (uint32_t i = 0; i < table->found; i++) {
        for (uint32_t j = 0; j < table->found; j++) {
            if (is_same_device(&table->entries[i], &table->entries[j])) {
                table->entries[i].twins |= UINT64_C(1) << j;
            }
        }
    }
}

/* Loaders without a driver return various codes; only a lack of memory is a failure. A driver that
 * fails to list devices loses only its own ones. */
static dynsel_status list_platforms(const char *function)
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
    table->platforms_present = code == CL_SUCCESS ? count : 0;
    table->platform_count = table->platforms_present < CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS
                                ? table->platforms_present
                                : CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS;
    for (uint32_t i = 0; i < table->platform_count; i++) {
        dynsel_opencl_platform *const platform = &table->platforms[i];
        cl_int custom_code;
        *platform = (dynsel_opencl_platform){.id = ids[i]};
        dynsel_opencl_describe_platform(platform);
        platform->device_count = add_devices(i, CL_DEVICE_TYPE_ALL, &platform->code);
        /* "All" excludes custom devices, and drivers older than OpenCL 1.2 refuse this type. */
        platform->device_count += add_devices(i, CL_DEVICE_TYPE_CUSTOM, &custom_code);
        table->devices_present += platform->device_count;
    }
    find_twins();
    dynsel_opencl_find_domains();
#if CONFIG_DYNSEL_ASPECTS
    for (uint32_t i = 0; i < table->found; i++) {
        table->entries[i].aspects = dynsel_opencl_read_aspects(&table->entries[i]);
    }
#endif
    table->discovered = true;
    dynsel_word_store_release(&table->known, table->found);
    return DYNSEL_OK;
}

static dynsel_status full(const char *function, const char *detail, uint32_t number)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)detail;
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_FULL,
                                             .function = DYNSEL_TEXT(function),
                                             .detail = DYNSEL_TEXT(detail),
                                             .number = number});
}

DYNSEL_RARE dynsel_status dynsel_opencl_discover(const char *function)
{
    if (!table->discovered) {
        dynsel_status status = note_use(function);
        status = status == DYNSEL_OK ? list_platforms(function) : status;
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    if (table->platforms_present > table->platform_count) {
        return full(function,
                    DYNSEL_OPTION(OPENCL_MAX_PLATFORMS,
                                  "and there are {} OpenCL platforms: set it to as many"),
                    table->platforms_present);
    }
    if (table->devices_present > CONFIG_DYNSEL_OPENCL_MAX_DEVICES) {
        return full(
            function,
            DYNSEL_OPTION(OPENCL_MAX_DEVICES, "and there are {} OpenCL devices: set it to as many"),
            table->devices_present);
    }
    return DYNSEL_OK;
}
