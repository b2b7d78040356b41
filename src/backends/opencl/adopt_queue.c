/* SPDX-License-Identifier: Apache-2.0 */
/* Adopts queues of the program as resources. */
#include <dynsel/opencl.h>

#include "backends/opencl/aspects.h"
#include "backends/opencl/device_info.h"
#include "backends/opencl/discovery.h"
#include "base/fail.h"
#include "port/atomic.h"
#include "port/context.h"
#include "port/likely.h"

static dynsel_opencl_table *const table = &dynsel_opencl_known;

static dynsel_status refuse(const char *function, cl_int code)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_INVALID,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT("dynsel_opencl_adopt"),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    });
}

static cl_int read_queue(cl_command_queue queue, dynsel_opencl_entry *entry)
{
    cl_command_queue_properties properties = 0;
    cl_int code =
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &entry->context, NULL);
    if (code == CL_SUCCESS) {
        code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &entry->device,
                                     NULL);
    }
    if (code == CL_SUCCESS) {
        code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
                                     NULL);
    }
    entry->out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return code;
}

/* platform_count: the platform is not in the table. */
static uint32_t platform_of(cl_device_id device)
{
    cl_platform_id id = NULL;
    uint32_t index = 0;
    (void)dynsel_opencl_read_value(device, CL_DEVICE_PLATFORM, &id, sizeof(cl_platform_id));
    while (index < table->platform_count && table->platforms[index].id != id) {
        index++;
    }
    return index;
}

static dynsel_opencl_entry *add(cl_command_queue queue)
{
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    if (known == CONFIG_DYNSEL_OPENCL_MAX_DEVICES) {
        (void)dynsel_fail(&(const dynsel_error){
            .status = DYNSEL_E_FULL,
            .number = known + 1,
            .function = DYNSEL_TEXT("dynsel_opencl_adopt"),
            .detail = DYNSEL_TEXT(DYNSEL_OPTION(
                OPENCL_MAX_DEVICES,
                "and there are as many devices and adopted queues: set it to {} or more"))});
        return NULL;
    }
    dynsel_opencl_entry *const entry = &table->entries[known];
    *entry = (dynsel_opencl_entry){.queue = queue, .adopted = true};
    cl_int code = read_queue(queue, entry);
    if (code != CL_SUCCESS) {
        (void)refuse("clGetCommandQueueInfo", code);
        return NULL;
    }
    /* Its device may be a sub-device, which discovery does not list. */
    entry->platform = platform_of(entry->device);
    dynsel_opencl_describe_device(entry);
#if CONFIG_DYNSEL_ASPECTS
    entry->aspects = dynsel_opencl_read_aspects(entry);
#endif
    if (dynsel_opencl_is_too_old(entry)) {
        (void)dynsel_opencl_refuse_old(entry, "dynsel_opencl_adopt");
        return NULL;
    }
    code = clRetainCommandQueue(queue);
    if (code != CL_SUCCESS) {
        (void)refuse("clRetainCommandQueue", code);
        return NULL;
    }
    dynsel_word_store_relaxed(&entry->state, DYNSEL_OPENCL_OPEN);
    dynsel_word_store_release(&table->known, known + 1);
    return entry;
}

DYNSEL_RARE void *dynsel_opencl_adopt(void *queue)
{
    if (dynsel_in_interrupt()) {
        return NULL;
    }
    if (queue == NULL) {
        (void)DYNSEL_FAIL(DYNSEL_E_INVALID, "the queue is NULL");
        return NULL;
    }
    dynsel_lock_acquire(&dynsel_opencl_lock);
    dynsel_opencl_entry *entry = NULL;
    if (!table->discovered) {
        (void)dynsel_opencl_discover(__func__); /* found devices stand before adopted queues */
    }
    if (table->discovered) {
        entry = dynsel_opencl_entry_of_queue(queue);
        entry = entry != NULL ? entry : add(queue);
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return entry;
}
