/* SPDX-License-Identifier: Apache-2.0 */
/* The backend's operations, and its resources. */
#include <dynsel/threads.h>

#include "aspects/host.h"
#include "backends/threads/pool.h"
#include "backends/threads/worker.h"
#include "base/fail.h"
#include "policy/report.h"

/* As many of the workers as fit. */
static void list(dynsel_resource *resources, size_t capacity, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        resources[i] = (dynsel_resource){.backend = &dynsel_threads_backend,
                                         .handle = dynsel_threads_worker(i)};
    }
}

static dynsel_status get_default_resources(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count)
{
    (void)backend;
    uint32_t running = 0;
    const dynsel_status status =
        dynsel_threads_need(DYNSEL_TEXT("dynsel_threads_backend"), &running);
    list(resources, capacity, running);
    *count = running;
    return status;
}

static dynsel_status get_started_resources(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count)
{
    (void)backend;
    const uint32_t running = dynsel_threads_started();
    list(resources, capacity, running);
    *count = running;
    return DYNSEL_OK;
}

dynsel_status dynsel_threads_resources(dynsel_resource *resources, size_t capacity, size_t *count)
{
    if (count == NULL || (resources == NULL && capacity != 0)) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "resources or count is NULL");
    }
    uint32_t running = 0;
    const dynsel_status status = dynsel_threads_need(DYNSEL_TEXT(__func__), &running);
    *count = running;
    if (status == DYNSEL_OK && capacity != 0 && running > capacity) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "{} workers run, more than fit", running);
    }
    list(resources, capacity, running);
    return status;
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    return dynsel_threads_name(handle);
}

#if CONFIG_DYNSEL_ASPECTS
/* A worker is one also while it does not run. */
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    if (dynsel_threads_name(handle) == NULL) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_threads_backend"), DYNSEL_E_INVALID,
                              "the handle is no worker: take resources from "
                              "dynsel_threads_resources()",
                              0);
    }
    return dynsel_describe_host(backend, handle, device);
}
#endif

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    (void)backend;
    return dynsel_threads_attach(own);
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    dynsel_threads_detach();
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    dynsel_worker *const worker = work->own;
    (void)backend;
    if (dynsel_worker_give(worker, work)) {
        return DYNSEL_OK;
    }
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_AGAIN,
        .number = CONFIG_DYNSEL_THREADS_QUEUE,
        .function = DYNSEL_TEXT("dynsel_threads_backend"),
        .subject = DYNSEL_TEXT(worker->name),
        .detail = DYNSEL_TEXT("{} pieces of work wait already: wait for some, or raise "
                              "CONFIG_DYNSEL_THREADS_QUEUE")});
}

static bool cancel(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    return dynsel_worker_take_back(work->own, work);
}

DYNSEL_ASSERT_REPORTS(DYNSEL_THREADS_REPORTS, DYNSEL_NEEDS_OF_POLICIES);

static const dynsel_backend_ops ops = {
    .name = "threads",
    .reports = DYNSEL_THREADS_REPORTS,
    .outlives_submit = true,
    .marks_completion = true,
    .poll_synchronizes = true,
    .get_default_resources = get_default_resources,
    .resource_name = resource_name,
#if CONFIG_DYNSEL_ASPECTS
    .describe = describe,
#endif
    .attach = attach,
    .detach = detach,
    .start = start,
    .cancel = cancel,
#if CONFIG_DYNSEL_COMMAND_GROUPS
    .in_order = true,
#endif
};

dynsel_backend dynsel_threads_backend = {&ops};

/* Only its resources are asked for, and those are of the backend above. */
static const dynsel_backend_ops started_ops = {.name = "threads",
                                               .reports = DYNSEL_THREADS_REPORTS,
                                               .get_default_resources = get_started_resources};

dynsel_backend dynsel_threads_if_started = {&started_ops};
