/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/adopt_memory.h"

#include "backends/opencl/device_memory.h"
#include "backends/opencl/device_table.h"
#include "backends/opencl/pinned_memory.h"
#include "base/fail.h"
#include "port/likely.h"

/* The properties of a memory object. */
typedef struct object {
    cl_mem_object_type type;
    cl_mem_flags flags;
    size_t bytes;
    void *host;
    cl_context context;
    cl_mem parent; /* of a sub-buffer */
} object;

static dynsel_status refuse(dynsel_status status, const char *detail)
{
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_opencl_buffer_init"), status, detail, 0);
}

static dynsel_status fail(const char *function, cl_int code)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = code == CL_INVALID_MEM_OBJECT ? DYNSEL_E_INVALID : DYNSEL_E_DEVICE,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT("dynsel_opencl_buffer_init"),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    });
}

static dynsel_status read_object(cl_mem memory, object *read)
{
    const struct {
        cl_mem_info what;
        void *to;
        size_t bytes;
    } queries[] = {
        {CL_MEM_TYPE, &read->type, sizeof(read->type)},
        {CL_MEM_FLAGS, &read->flags, sizeof(read->flags)},
        {CL_MEM_SIZE, &read->bytes, sizeof(read->bytes)},
        {CL_MEM_HOST_PTR, &read->host, sizeof(read->host)},
        {CL_MEM_CONTEXT, &read->context, sizeof(cl_context)},
        {CL_MEM_ASSOCIATED_MEMOBJECT, &read->parent, sizeof(cl_mem)},
    };
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        const cl_int code =
            clGetMemObjectInfo(memory, queries[i].what, queries[i].bytes, queries[i].to, NULL);
        if (code != CL_SUCCESS) {
            return fail("clGetMemObjectInfo", code);
        }
    }
    return DYNSEL_OK;
}

/* Whether the library can copy what is in it, from and to the host. */
static dynsel_status check_kind(const object *read)
{
    if (read->type != CL_MEM_OBJECT_BUFFER) {
        return refuse(DYNSEL_E_UNSUPPORTED,
                      DYNSEL_TEXT("the memory object is an image or a pipe: only buffers of "
                                  "clCreateBuffer() are possible"));
    }
    if (read->parent != NULL) {
        return refuse(DYNSEL_E_UNSUPPORTED,
                      DYNSEL_TEXT("the memory object is a sub-buffer: make the buffer over its "
                                  "parent, and use accessors with a range"));
    }
    if ((read->flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) !=
        0) {
        return refuse(DYNSEL_E_UNSUPPORTED,
                      DYNSEL_TEXT("the host cannot both read and write the memory object: create "
                                  "it without CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY and "
                                  "CL_MEM_HOST_WRITE_ONLY"));
    }
    return DYNSEL_OK;
}

/* range: in and out. bytes: out, of the elements; of a range with too many dimensions unchanged,
 * because the core refuses it. */
static dynsel_status fit(const object *read, size_t element_bytes, dynsel_range *range,
                         size_t *bytes)
{
    if (element_bytes == 0) {
        return refuse(DYNSEL_E_INVALID, DYNSEL_TEXT("the size of an element is 0"));
    }
    if (range->dimensions == 0) {
        if (read->bytes % element_bytes != 0) {
            return refuse(DYNSEL_E_INVALID,
                          DYNSEL_TEXT("the memory object is no whole number of elements: give the "
                                      "range that is to be used"));
        }
        *range = DYNSEL_RANGE(read->bytes / element_bytes);
    }
    if (range->dimensions > DYNSEL_MAX_DIMENSIONS) {
        return DYNSEL_OK;
    }
    size_t left = read->bytes / element_bytes;
    for (uint32_t i = 0; i < range->dimensions; i++) { /* a product could overflow */
        left = range->size[i] != 0 ? left / range->size[i] : left;
    }
    if (left == 0) {
        return refuse(DYNSEL_E_INVALID,
                      DYNSEL_TEXT("the elements need more bytes than the memory object has"));
    }
    *bytes = dynsel_range_count(range) * element_bytes;
    return DYNSEL_OK;
}

static bool overlap(const object *read, const void *data, size_t bytes)
{
    const uintptr_t own = (uintptr_t)read->host;
    const uintptr_t other = (uintptr_t)data;
    return read->host != NULL && data != NULL && own < other + bytes && other < own + read->bytes;
}

static dynsel_kernel_access access_of(const object *read)
{
    if ((read->flags & CL_MEM_READ_ONLY) != 0) {
        return DYNSEL_KERNELS_READ;
    }
    return (read->flags & CL_MEM_WRITE_ONLY) != 0 ? DYNSEL_KERNELS_WRITE
                                                  : DYNSEL_KERNELS_READ_AND_WRITE;
}

DYNSEL_RARE dynsel_status dynsel_opencl_take_memory(cl_mem memory, void *data, size_t element_bytes,
                                                    dynsel_range *range,
                                                    dynsel_device_memory *taken)
{
    object read = {.type = 0};
    size_t bytes = 0;
    dynsel_status status = read_object(memory, &read);
    if (status == DYNSEL_OK) {
        status = check_kind(&read);
    }
    if (status == DYNSEL_OK) {
        status = fit(&read, element_bytes, range, &bytes);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    if (overlap(&read, data, bytes)) {
        return refuse(DYNSEL_E_INVALID,
                      DYNSEL_TEXT("the memory object works in `data` itself (CL_MEM_USE_HOST_PTR): "
                                  "give other memory, or make the buffer over that with "
                                  "dynsel_buffer_init()"));
    }
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_in(read.context, DYNSEL_OPENCL_OPEN);
    if (entry == NULL) {
        return refuse(DYNSEL_E_NO_RESOURCE,
                      DYNSEL_TEXT("no resource is in the context of the memory object: adopt a "
                                  "queue of it with dynsel_opencl_adopt() first"));
    }
    const cl_int code = clRetainMemObject(memory);
    if (code != CL_SUCCESS) {
        return fail("clRetainMemObject", code);
    }
    dynsel_opencl_note_copy();
    *taken = (dynsel_device_memory){
        .backend = &dynsel_opencl_backend,
        .own = entry,
        .memory = {.native = memory, .host = data, .bytes = bytes},
        .access = access_of(&read),
    };
    if (data != NULL) {
        dynsel_opencl_may_pin(entry, &taken->memory);
    }
    return DYNSEL_OK;
}
