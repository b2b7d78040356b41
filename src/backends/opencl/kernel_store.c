/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/kernel_store.h"

#include <string.h>

#include "base/fail.h"
#include "port/likely.h"
#include "port/lock.h"

static dynsel_opencl_kernel_store store; /* load == NULL: no store is set */
static dynsel_lock store_lock = DYNSEL_LOCK_INITIALIZER;

/* Stored before each binary, to detect damage: some drivers crash on damaged binaries. */
typedef struct heading {
    char format[8];
    uint64_t key;
    uint64_t bytes;
    uint64_t check;
} heading;

static const char format[8] = "dynsel1";

static const uint64_t first_key = 0xcbf29ce484222325u; /* of FNV-1a */

/* FNV-1a. */
static uint64_t mix(uint64_t key, const void *part, size_t bytes, void *context)
{
    const unsigned char *const from = part;
    (void)context;
    for (size_t i = 0; i < bytes; i++) {
        key = (key ^ from[i]) * UINT64_C(0x100000001b3);
    }
    return key;
}

static uint64_t check_of(const void *data, size_t bytes)
{
    return mix(first_key, data, bytes, NULL);
}

static uint64_t add(uint64_t key, const void *part, size_t bytes)
{
    return store.key != NULL ? store.key(key, part, bytes, store.context)
                             : mix(key, part, bytes, NULL);
}

/* Includes the final zero, so that "ab", "c" and "a", "bc" have different keys. */
static uint64_t add_text(uint64_t key, const char *text)
{
    return add(key, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

/* Covers everything that a binary depends on, the version of the driver included. */
DYNSEL_RARE static uint64_t key_of(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    static const cl_device_info queries[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
                                             CL_DRIVER_VERSION};
    cl_platform_id platform = NULL;
    char text[256];
    uint64_t key = add(first_key, format, sizeof(format));
    key = add_text(key, dynsel_opencl_prelude);
    key = add_text(key, kernel->source);
    key = add(key, kernel->il, kernel->il != NULL ? kernel->il_bytes : 0);
    key = add_text(key, kernel->options);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        (void)memset(text, 0, sizeof(text));
        (void)clGetDeviceInfo(entry->device, queries[i], sizeof(text) - 1, text, NULL);
        key = add_text(key, text);
    }
    (void)memset(text, 0, sizeof(text));
    (void)clGetDeviceInfo(entry->device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform,
                          NULL);
    (void)clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text) - 1, text, NULL);
    return add_text(key, text);
}

bool dynsel_opencl_store_is_for(const dynsel_kernel *kernel)
{
    dynsel_lock_acquire(&store_lock);
    const bool there = store.load != NULL;
    dynsel_lock_release(&store_lock);
    return there && (kernel->source != NULL || kernel->il != NULL);
}

DYNSEL_RARE const void *dynsel_opencl_store_open(const dynsel_opencl_entry *entry,
                                                 const dynsel_kernel *kernel, size_t *bytes)
{
    heading head = {.bytes = 0};
    dynsel_lock_acquire(&store_lock);
    if (store.load == NULL) {
        return NULL;
    }
    const uint64_t key = key_of(entry, kernel);
    const size_t loaded = store.load(key, store.scratch, store.scratch_bytes, store.context);
    if (loaded <= sizeof(head) || loaded > store.scratch_bytes) {
        return NULL;
    }
    const unsigned char *const data = (const unsigned char *)store.scratch + sizeof(head);
    (void)memcpy(&head, store.scratch, sizeof(head));
    const bool is_whole = memcmp(head.format, format, sizeof(format)) == 0 && head.key == key &&
                          head.bytes == loaded - sizeof(head) &&
                          head.check == check_of(data, loaded - sizeof(head));
    *bytes = loaded - sizeof(head);
    return is_whole ? data : NULL;
}

void dynsel_opencl_store_close(void)
{
    dynsel_lock_release(&store_lock);
}

/* The place of the device among those of the program; CONFIG_DYNSEL_OPENCL_MAX_DEVICES: none. */
static cl_uint place_of(cl_device_id device, cl_program program)
{
    cl_device_id devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    cl_uint count = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, NULL) !=
            CL_SUCCESS ||
        clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(devices), devices, NULL) !=
            CL_SUCCESS) {
        return CONFIG_DYNSEL_OPENCL_MAX_DEVICES;
    }
    for (cl_uint place = 0; place < count; place++) {
        if (devices[place] == device) {
            return place;
        }
    }
    return CONFIG_DYNSEL_OPENCL_MAX_DEVICES;
}

/* Copies the binary behind the heading in the scratch memory, and returns its size; 0: the program
 * has no binary, or it does not fit. */
DYNSEL_RARE static size_t read_binary(cl_device_id device, cl_program program)
{
    const cl_uint place = place_of(device, program);
    size_t sizes[CONFIG_DYNSEL_OPENCL_MAX_DEVICES] = {0};
    unsigned char *binaries[CONFIG_DYNSEL_OPENCL_MAX_DEVICES] = {NULL};
    if (place == CONFIG_DYNSEL_OPENCL_MAX_DEVICES ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL) !=
            CL_SUCCESS ||
        sizes[place] > store.scratch_bytes - sizeof(heading)) {
        return 0;
    }
    binaries[place] = (unsigned char *)store.scratch + sizeof(heading);
    return clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binaries), (void *)binaries,
                            NULL) == CL_SUCCESS
               ? sizes[place]
               : 0;
}

void dynsel_opencl_store_save(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                              cl_program program)
{
    dynsel_lock_acquire(&store_lock);
    const size_t bytes = store.save != NULL ? read_binary(entry->device, program) : 0;
    if (bytes != 0) {
        unsigned char *const data = (unsigned char *)store.scratch + sizeof(heading);
        heading head = {.key = key_of(entry, kernel), .bytes = bytes, .check = 0};
        (void)memcpy(head.format, format, sizeof(format));
        head.check = check_of(data, bytes);
        (void)memcpy(store.scratch, &head, sizeof(head));
        store.save(head.key, store.scratch, sizeof(head) + bytes, store.context);
    }
    dynsel_lock_release(&store_lock);
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_opencl_store_renew(void)
{
    dynsel_lock_renew(&store_lock);
}
#endif

void dynsel_opencl_store_forget(void)
{
    dynsel_lock_acquire(&store_lock);
    store = (dynsel_opencl_kernel_store){.load = NULL};
    dynsel_lock_release(&store_lock);
}

dynsel_status dynsel_opencl_set_kernel_store(const dynsel_opencl_kernel_store *wanted)
{
    static const dynsel_opencl_kernel_store none;
    if (wanted != NULL && (wanted->load == NULL || wanted->save == NULL ||
                           wanted->scratch == NULL || wanted->scratch_bytes <= sizeof(heading))) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "a store has load and save, and more than 32 bytes of scratch memory");
    }
    dynsel_lock_acquire(&store_lock);
    store = wanted != NULL ? *wanted : none;
    dynsel_lock_release(&store_lock);
    return DYNSEL_OK;
}
