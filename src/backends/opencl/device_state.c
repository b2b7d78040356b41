/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/device_state.h"

#include "backends/opencl/device_info.h"
#include "backends/opencl/error_codes.h"
#include "base/fail.h"
#include "port/likely.h"
#include "port/pause.h"

typedef dynsel_opencl_entry entry;

enum { CHECK_NS = 100000000 };

static dynsel_opencl_table *const table = &dynsel_opencl_known;

static bool is_cpu(const entry *device)
{
    return (device->type & CL_DEVICE_TYPE_CPU) != 0;
}

/* NULL: the device has no context yet. */
static cl_context context_of(const entry *device)
{
    const uint32_t state = dynsel_word_load_acquire(&device->state);
    return state == DYNSEL_OPENCL_OPEN || state == DYNSEL_OPENCL_DEAD ? device->context : NULL;
}

/* The CPU devices of one platform have one context, so that they share memory of the host. An
 * adopted queue has the context of its creator, which can be a context of the library. */
static bool shares_context(const entry *a, const entry *b)
{
    if (a->adopted || b->adopted) {
        return a == b || context_of(a) == context_of(b);
    }
    return a == b || (is_cpu(a) && is_cpu(b) && a->platform == b->platform);
}

/* A domain has the number of the first entry that shares the context. */
static uint32_t find_domain(const entry *device)
{
    uint32_t first = 0;
    while (!shares_context(device, &table->entries[first])) {
        first++;
    }
    const uint32_t number = dynsel_word_load_relaxed(&table->entries[first].domain);
    return number != 0 ? number : first + 1;
}

/* The domain of an adopted queue is not stored: it changes when a found device is opened. */
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

/* Data in the domain of a lost context are unreachable. Devices that would have shared this context
 * get a new context later, so they move to a new domain. */
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

/* For the device, and the usable devices that share its context. */
static cl_context new_context(const entry *device, cl_int *code)
{
    cl_device_id devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
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
    const bool is_new = context == NULL;
    cl_int code = CL_SUCCESS;
    if (is_new) {
        context = new_context(device, &code);
        if (context == NULL || code != CL_SUCCESS) {
            fail_to_open(device, "clCreateContext", code);
            return;
        }
    }
    const cl_command_queue queue =
        clCreateCommandQueue(context, device->device, table->options.queue_properties, &code);
    if (queue == NULL || code != CL_SUCCESS) {
        if (is_new) {
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

static dynsel_status refuse(const entry *device)
{
    const char *detail = dynsel_opencl_code_name(device->failed_code);
    if (dynsel_opencl_is_lost(device)) {
        detail = "the device was lost, nothing more is asked of it until dynsel_opencl_close()";
    } else if (device->failed_code == CL_INVALID_QUEUE_PROPERTIES) {
        detail = "the device refuses the queue properties given to dynsel_opencl_configure()";
    }
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_OUT_OF_SERVICE,
        .code = device->failed_code,
        .function = DYNSEL_TEXT(device->failed_function),
        .subject = DYNSEL_TEXT(device->name),
        .detail = DYNSEL_TEXT(detail),
    });
}

DYNSEL_RARE dynsel_status dynsel_opencl_open_now(entry *device)
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
    /* Under the lock: another thread's attempt, or a loss, overwrites the failed call. */
    const dynsel_status status = state == DYNSEL_OPENCL_OPEN ? DYNSEL_OK : refuse(device);
    dynsel_lock_release(&dynsel_opencl_lock);
    return status;
}

DYNSEL_RARE void dynsel_opencl_lose(entry *device, const char *function, cl_int code)
{
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        entry *const other = &table->entries[i];
        if (dynsel_word_load_relaxed(&other->state) != DYNSEL_OPENCL_OPEN ||
            other->context != device->context) {
            continue;
        }
        other->failed_function = function;
        other->failed_code = code;
        dynsel_word_store_release(&other->state, DYNSEL_OPENCL_DEAD);
        /* A CPU device of this platform that is opened later gets a new context. */
        if (!other->adopted && table->platforms[other->platform].cpu_context == other->context) {
            table->platforms[other->platform].cpu_context = NULL;
            leave_domain(other);
        }
    }
    dynsel_lock_release(&dynsel_opencl_lock);
}

static bool may_mean_loss(cl_int code)
{
    return dynsel_opencl_code_meaning(code) != DYNSEL_OPENCL_MEANS_FAILURE;
}

/* Looks until the marker has ended, or for CHECK_NS. A failing look says nothing. */
static bool ends_well(cl_event marker)
{
    const uint64_t deadline_ns = dynsel_now_ns() + CHECK_NS;
    for (uint32_t round = 0; dynsel_now_ns() < deadline_ns; round++) {
        cl_int status = CL_QUEUED;
        const cl_int code = clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                           sizeof(status), &status, NULL);
        if (code == CL_SUCCESS && status <= CL_COMPLETE) {
            return !may_mean_loss(status);
        }
        dynsel_pause(round);
    }
    return true;
}

/* Enqueues a marker and flushes. is_last: it must end well, too. False: that fails in a way that
 * shows a loss. */
static bool takes_marker(cl_command_queue queue, bool is_last)
{
    cl_event marker = NULL;
    cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker);
    if (code != CL_SUCCESS) {
        return !may_mean_loss(code);
    }
    code = clFlush(queue);
    if (may_mean_loss(code) || (is_last && code == CL_SUCCESS && !ends_well(marker))) {
        return false;
    }
    (void)clReleaseEvent(marker);
    return true;
}

/*
 * The trivial command: a marker. The device's own queue must take one; its end may come late,
 * because work can be running before it. In a new queue it must end well. What fails for another
 * reason than a loss shows none. Objects of a lost device are left alone, because drivers hang.
 */
static bool answers(const entry *device)
{
    if (!takes_marker(device->queue, false)) {
        return false;
    }
    cl_int code = CL_SUCCESS;
    const cl_command_queue queue = clCreateCommandQueue(device->context, device->device, 0, &code);
    if (queue == NULL || code != CL_SUCCESS) {
        return !may_mean_loss(code);
    }
    if (!takes_marker(queue, true)) {
        return false;
    }
    (void)clReleaseCommandQueue(queue);
    return true;
}

bool dynsel_opencl_loses(entry *device, const char *function, cl_int code)
{
    if (dynsel_opencl_is_lost(device)) {
        return true;
    }
    const dynsel_opencl_meaning meaning = dynsel_opencl_code_meaning(code);
    if (meaning == DYNSEL_OPENCL_MEANS_FAILURE ||
        dynsel_word_load_acquire(&device->state) != DYNSEL_OPENCL_OPEN ||
        (meaning == DYNSEL_OPENCL_MAY_MEAN_LOSS && answers(device))) {
        return false;
    }
    dynsel_opencl_lose(device, function, code);
    return true;
}

static void release_queues(const entry *device)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (dynsel_word_load_relaxed(&device->transfers) == DYNSEL_OPENCL_TRANSFERS_BESIDE) {
        (void)clReleaseCommandQueue(device->queue_in);
        (void)clReleaseCommandQueue(device->queue_out);
    }
#endif
    (void)clReleaseCommandQueue(device->queue);
}

void dynsel_opencl_release_profiling(entry *device)
{
    dynsel_opencl_times *const timing = &device->timing;
    if (timing->gate != NULL) {
        (void)clReleaseMemObject(timing->gate);
        timing->gate = NULL;
    }
    if (timing->queue != NULL && timing->queue != device->queue) {
        (void)clReleaseCommandQueue(timing->queue);
    }
    timing->queue = NULL;
}

/* Queues before contexts; a shared context once, at its first open entry. */
DYNSEL_RARE void dynsel_opencl_release_all(void)
{
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        if (dynsel_word_load_relaxed(&table->entries[i].state) == DYNSEL_OPENCL_OPEN) {
            dynsel_opencl_release_profiling(&table->entries[i]);
            release_queues(&table->entries[i]);
        }
    }
    for (uint32_t i = 0; i < table->found; i++) {
        const entry *const device = &table->entries[i];
        cl_context *const shared = &table->platforms[device->platform].cpu_context;
        if (dynsel_word_load_relaxed(&device->state) != DYNSEL_OPENCL_OPEN ||
            (is_cpu(device) && *shared != device->context)) {
            continue;
        }
        if (is_cpu(device)) {
            *shared = NULL;
        }
        (void)clReleaseContext(device->context);
    }
}

dynsel_error dynsel_opencl_failure(entry *device, const char *function, cl_int code)
{
    /* For command groups: drivers that allocate on the first use report full memory here. */
    const bool is_full = CONFIG_DYNSEL_COMMAND_GROUPS && code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
    const bool survived = !dynsel_opencl_loses(device, function, code) &&
                          dynsel_opencl_code_meaning(code) == DYNSEL_OPENCL_MAY_MEAN_LOSS;
    (void)survived; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return (dynsel_error){
        .status = is_full ? DYNSEL_E_FULL : DYNSEL_E_DEVICE,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(device->name),
        .detail = DYNSEL_TEXT(survived ? dynsel_opencl_code_survived(code)
                                       : dynsel_opencl_code_name(code)),
    };
}

dynsel_status dynsel_opencl_fail(entry *device, const char *function, cl_int code)
{
    const dynsel_error error = dynsel_opencl_failure(device, function, code);
    return dynsel_fail(&error);
}

dynsel_status dynsel_opencl_fail_to_enqueue(entry *device, const char *function, cl_int code)
{
    dynsel_error error = dynsel_opencl_failure(device, function, code);
    if (error.status == DYNSEL_E_FULL) {
        error.status = DYNSEL_E_AGAIN;
    }
    return dynsel_fail(&error);
}

dynsel_status dynsel_opencl_fail_to_fetch(entry *device, const char *function, cl_int code)
{
    dynsel_error error = dynsel_opencl_failure(device, function, code);
    error.status = dynsel_opencl_code_is_transient(code) ? DYNSEL_E_AGAIN : DYNSEL_E_DEVICE;
    return dynsel_fail(&error);
}

/* A device that was given up has no failed call. */
dynsel_status dynsel_opencl_fail_lost(const entry *device)
{
    const bool given_up = device->failed_code == CL_SUCCESS;
    return dynsel_fail(&(const dynsel_error){
        .status = given_up ? DYNSEL_E_GIVEN_UP : DYNSEL_E_DEVICE,
        .code = device->failed_code,
        .function = DYNSEL_TEXT(device->failed_function),
        .subject = DYNSEL_TEXT(device->name),
        .detail = given_up ? DYNSEL_TEXT("the device was given up, or one that shares its context; "
                                         "it may still use this memory: leave that alone until "
                                         "the program ends")
                           : DYNSEL_TEXT("the device was lost while this work was on it"),
    });
}
