/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/device.h"

#include "backends/opencl/codes.h"
#include "backends/opencl/version.h"
#include "base/fail.h"
#include "port/likely.h"

typedef dynsel_opencl_entry entry;

static dynsel_opencl_table *const table = &dynsel_opencl_known;

static bool is_cpu(const entry *device)
{
    return (device->type & CL_DEVICE_TYPE_CPU) != 0;
}

/* NULL: there is none yet. */
static cl_context context_of(const entry *device)
{
    const uint32_t state = dynsel_word_load_acquire(&device->state);
    return state == DYNSEL_OPENCL_OPEN || state == DYNSEL_OPENCL_DEAD ? device->context : NULL;
}

/* The CPU devices of one platform have one context, so that memory of the host has one owner among
 * them. An adopted queue has that of its maker, which can be the library's. */
static bool shares_context(const entry *a, const entry *b)
{
    if (a->adopted || b->adopted) {
        return a == b || context_of(a) == context_of(b);
    }
    return a == b || (is_cpu(a) && is_cpu(b) && a->platform == b->platform);
}

static uint32_t first_that_shares(const entry *device)
{
    uint32_t first = 0;
    while (!shares_context(device, &table->entries[first])) {
        first++;
    }
    return first;
}

static uint32_t find_domain(const entry *device)
{
    const uint32_t first = first_that_shares(device);
    const uint32_t number = dynsel_word_load_relaxed(&table->entries[first].domain);
    return number != 0 ? number : first + 1;
}

/* Found devices stand before all adopted queues, whose domains are looked for each time. */
void dynsel_opencl_find_domains(void)
{
    for (uint32_t i = 0; i < table->found; i++) {
        dynsel_word_store_relaxed(&table->entries[i].domain, find_domain(&table->entries[i]));
    }
}

uint32_t dynsel_opencl_domain_of(const dynsel_opencl_entry *device)
{
    const uint32_t number = dynsel_word_load_relaxed(&device->domain);
    return DYNSEL_LIKELY(number != 0) ? number : find_domain(device);
}

/* What is in the domain of a lost context can be reached by nobody: those that would have opened
 * that context and get a new one are of a domain that nobody had before. */
static void leave_domain(const entry *lost)
{
    const uint32_t number =
        dynsel_word_load_relaxed(&lost->domain) + CONFIG_DYNSEL_OPENCL_MAX_DEVICES;
    for (uint32_t i = 0; i < table->found; i++) {
        entry *const other = &table->entries[i];
        const uint32_t state = dynsel_word_load_relaxed(&other->state);
        if ((state == DYNSEL_OPENCL_CLOSED || state == DYNSEL_OPENCL_FAILED) &&
            shares_context(lost, other)) {
            dynsel_word_store_relaxed(&other->domain, number);
        }
    }
}

/* Which devices the context of `device` is for: itself, and the usable ones that share it. */
static cl_uint gather(const entry *device, cl_device_id *devices)
{
    cl_uint count = 0;
    for (uint32_t i = 0; i < table->found; i++) {
        const entry *const other = &table->entries[i];
        const uint32_t state = dynsel_word_load_relaxed(&other->state);
        const bool usable =
            other->available && state != DYNSEL_OPENCL_DEAD && !dynsel_opencl_is_too_old(other);
        if (other == device || (usable && shares_context(device, other))) {
            devices[count++] = other->device;
        }
    }
    return count;
}

static cl_context new_context(const entry *device, cl_int *code)
{
    cl_device_id devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    const cl_uint count = gather(device, devices);
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)table->platforms[device->platform].id, 0};
    return clCreateContext(properties, count, devices, NULL, NULL, code);
}

static void fail_to_open(entry *device, const char *function, cl_int code)
{
    device->failed_function = function;
    device->failed_code = code;
    dynsel_word_store_release(&device->state, DYNSEL_OPENCL_FAILED);
}

static void open_locked(entry *device)
{
    cl_context *const shared =
        is_cpu(device) ? &table->platforms[device->platform].cpu_context : NULL;
    cl_context context = shared != NULL ? *shared : NULL;
    const bool made = context == NULL;
    cl_int code = CL_SUCCESS;
    if (made) {
        context = new_context(device, &code);
        if (context == NULL || code != CL_SUCCESS) {
            fail_to_open(device, "clCreateContext", code);
            return;
        }
    }
    const cl_command_queue queue =
        clCreateCommandQueue(context, device->device, table->options.queue_properties, &code);
    if (queue == NULL || code != CL_SUCCESS) {
        if (made) {
            (void)clReleaseContext(context);
        }
        fail_to_open(device, "clCreateCommandQueue", code);
        return;
    }
    if (shared != NULL) {
        *shared = context;
    }
    device->context = context;
    device->queue = queue;
    dynsel_word_store_release(&device->state, DYNSEL_OPENCL_OPEN);
}

static const char *why_not_open(const entry *device)
{
    if (device->failed_code == CL_INVALID_QUEUE_PROPERTIES) {
        return "the device refuses the queue properties given to dynsel_opencl_configure()";
    }
    return dynsel_opencl_code_name(device->failed_code);
}

static dynsel_status refuse(const entry *device)
{
    const char *const detail = dynsel_opencl_is_lost(device)
                                   ? "the device was lost, nothing more is asked of it until "
                                     "dynsel_opencl_close()"
                                   : why_not_open(device);
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_OUT_OF_SERVICE,
        .code = device->failed_code,
        .function = DYNSEL_TEXT(device->failed_function),
        .subject = DYNSEL_TEXT(device->name),
        .detail = DYNSEL_TEXT(detail),
    });
}

dynsel_status dynsel_opencl_open_now(entry *device)
{
    if (dynsel_opencl_is_too_old(device)) {
        return dynsel_opencl_refuse_old(device, "dynsel_opencl_backend");
    }
    dynsel_lock_acquire(&dynsel_opencl_lock);
    uint32_t state = dynsel_word_load_relaxed(&device->state);
    if (state == DYNSEL_OPENCL_CLOSED || state == DYNSEL_OPENCL_FAILED) {
        open_locked(device);
        state = dynsel_word_load_relaxed(&device->state);
    }
    /* the next try, or a loss, changes what failed */
    const dynsel_status status = state == DYNSEL_OPENCL_OPEN ? DYNSEL_OK : refuse(device);
    dynsel_lock_release(&dynsel_opencl_lock);
    return status;
}

static void lose_locked(entry *device, const char *function, cl_int code)
{
    device->failed_function = function;
    device->failed_code = code;
    dynsel_word_store_release(&device->state, DYNSEL_OPENCL_DEAD);
    /* A CPU device of this platform that is opened later gets a new context. */
    if (!device->adopted && table->platforms[device->platform].cpu_context == device->context) {
        table->platforms[device->platform].cpu_context = NULL;
        leave_domain(device);
    }
}

void dynsel_opencl_lose(entry *device, const char *function, cl_int code)
{
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        entry *const other = &table->entries[i];
        if (dynsel_word_load_relaxed(&other->state) == DYNSEL_OPENCL_OPEN &&
            other->context == device->context) {
            lose_locked(other, function, code);
        }
    }
    dynsel_lock_release(&dynsel_opencl_lock);
}

/* Queues before contexts, and each context once, by the first entry that has it. */
static void release_context(const entry *device)
{
    cl_context *const shared = &table->platforms[device->platform].cpu_context;
    if (is_cpu(device)) {
        if (*shared != device->context) {
            return;
        }
        *shared = NULL;
    }
    (void)clReleaseContext(device->context);
}

void dynsel_opencl_release_all(void)
{
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        if (dynsel_word_load_relaxed(&table->entries[i].state) == DYNSEL_OPENCL_OPEN) {
            (void)clReleaseCommandQueue(table->entries[i].queue);
        }
    }
    for (uint32_t i = 0; i < table->found; i++) {
        if (dynsel_word_load_relaxed(&table->entries[i].state) == DYNSEL_OPENCL_OPEN) {
            release_context(&table->entries[i]);
        }
    }
}
