/* SPDX-License-Identifier: Apache-2.0 */
/* The table of workers: starts and stops them, counts their users, offers them as resources; and
 * the table of operations of the backend. */
#define _POSIX_C_SOURCE 200809L

#include "backends/threads/backend.h"

#include <unistd.h>

#include <dynsel/threads.h>

#include "aspects/host.h"
#include "backends/threads/worker.h"
#include "base/fail.h"
#include "policy/after_fork.h"
#include "policy/report.h"
#include "port/likely.h"
#include "port/lock.h"

enum { TABLE = CONFIG_DYNSEL_THREADS_WORKERS };

static dynsel_worker workers[TABLE];

static dynsel_lock lock = DYNSEL_LOCK_INITIALIZER; /* guards the three below */
static uint32_t running;
static uint32_t users; /* number of entries in tables of policies */
static bool started;   /* by the program, not only on demand */

/* TABLE: the handle is no worker. */
static uint32_t number_of(const void *handle)
{
    uint32_t number = 0;
    while (number < TABLE && handle != &workers[number]) {
        number++;
    }
    return number;
}

/* Before the first start of a worker, so that no reader of its name needs a lock. */
static void write_name(char *end, uint32_t number)
{
    static const char prefix[] = "worker ";
    if (*end != '\0') {
        return;
    }
    for (const char *c = prefix; *c != '\0'; c++) {
        *end++ = *c;
    }
    if (number >= 10) {
        *end++ = (char)('0' + number / 10);
    }
    *end = (char)('0' + number % 10);
}

static void stop_all(void)
{
    while (running > 0) {
        running--;
        dynsel_worker_stop(&workers[running]);
    }
}

/* The child of a fork() has no workers, and its policies are the parent's no longer. */
static void forget(void)
{
    dynsel_lock_renew(&lock);
    running = 0;
    users = 0;
    started = false;
}

void (*const dynsel_fork_workers)(void) = forget;

DYNSEL_RARE static dynsel_status start_all(const char *function, uint32_t wanted)
{
    dynsel_fork_watch();
    while (running < wanted) {
        write_name(workers[running].name, running);
        const int code = dynsel_worker_start(&workers[running]);
        if (code != 0) {
            stop_all();
            return dynsel_fail(
                &(const dynsel_error){.status = DYNSEL_E_DEVICE,
                                      .code = code,
                                      .function = function,
                                      .detail = DYNSEL_TEXT("the system gives no more threads: "
                                                            "start fewer workers")});
        }
        running++;
    }
    return DYNSEL_OK;
}

size_t dynsel_threads_processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (size_t)online;
}

/* One worker for each processor of the host, as far as the table has room. */
static dynsel_status start_if_none(const char *function)
{
    if (running > 0) {
        return DYNSEL_OK;
    }
    const size_t processors = dynsel_threads_processors();
    return start_all(function, processors < TABLE ? (uint32_t)processors : TABLE);
}

DYNSEL_RARE dynsel_status dynsel_threads_start(size_t wanted)
{
    const char *const function = DYNSEL_TEXT(__func__);
    if (wanted > TABLE) {
        return DYNSEL_FAIL_IN(
            function, DYNSEL_E_FULL,
            DYNSEL_OPTION(THREADS_WORKERS, "and {} workers are wanted: set it to as many"), wanted);
    }
    dynsel_status status = DYNSEL_OK;
    dynsel_lock_acquire(&lock);
    if (running > 0 && wanted != 0 && wanted != running) {
        status =
            DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                           "{} workers run already: call dynsel_threads_stop() first", running);
    } else {
        status = wanted != 0 ? start_all(function, (uint32_t)wanted) : start_if_none(function);
        started = started || status == DYNSEL_OK;
    }
    dynsel_lock_release(&lock);
    return status;
}

dynsel_status dynsel_threads_stop(void)
{
    dynsel_status status = DYNSEL_OK;
    dynsel_lock_acquire(&lock);
    if (users != 0) {
        status = DYNSEL_FAIL_NUMBER(DYNSEL_E_BUSY, "policies use workers in {} places", users);
    } else {
        stop_all();
        started = false;
    }
    dynsel_lock_release(&lock);
    return status;
}

/* Starts the workers if none runs; count: out, the number of running workers. */
static dynsel_status start_on_demand(const char *function, uint32_t *count)
{
    dynsel_lock_acquire(&lock);
    const dynsel_status status = start_if_none(function);
    *count = running;
    dynsel_lock_release(&lock);
    return status;
}

/* Copies as many workers as fit. */
static void list(dynsel_resource *resources, size_t capacity, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        resources[i] = (dynsel_resource){.backend = &dynsel_threads_backend, .handle = &workers[i]};
    }
}

static dynsel_status get_default_resources(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count)
{
    (void)backend;
    uint32_t available = 0;
    const dynsel_status status = start_on_demand(DYNSEL_TEXT("dynsel_threads_backend"), &available);
    list(resources, capacity, available);
    *count = available;
    return status;
}

static dynsel_status get_started_resources(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count)
{
    (void)backend;
    dynsel_lock_acquire(&lock);
    const uint32_t available = started ? running : 0;
    dynsel_lock_release(&lock);
    list(resources, capacity, available);
    *count = available;
    return DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_threads_resources(dynsel_resource *resources, size_t capacity,
                                                   size_t *count)
{
    if (count == NULL || (resources == NULL && capacity != 0)) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "resources or count is NULL");
    }
    uint32_t available = 0;
    const dynsel_status status = start_on_demand(DYNSEL_TEXT(__func__), &available);
    *count = available;
    if (status == DYNSEL_OK && capacity != 0 && available > capacity) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "{} workers run, more than fit", available);
    }
    list(resources, capacity, available);
    return status;
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    const uint32_t number = number_of(handle);
    (void)backend;
    return number < TABLE ? workers[number].name : NULL;
}

#if CONFIG_DYNSEL_ASPECTS
/* Also for workers that do not run. */
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    if (number_of(handle) == TABLE) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_threads_backend"), DYNSEL_E_INVALID,
                              "the handle is no worker: take resources from "
                              "dynsel_threads_resources()",
                              0);
    }
    return dynsel_describe_host(backend, handle, device);
}
#endif

/* Counts a user, so that the workers are not stopped. */
static dynsel_status attach(dynsel_backend *backend, void *own)
{
    const char *const function = DYNSEL_TEXT("dynsel_threads_backend");
    const uint32_t number = number_of(own);
    (void)backend;
    dynsel_lock_acquire(&lock);
    dynsel_status status = start_if_none(function);
    if (status == DYNSEL_OK && number >= running) {
        status = DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                                "the handle is none of the {} workers that run: take resources "
                                "from dynsel_threads_resources()",
                                running);
    }
    users += status == DYNSEL_OK ? 1 : 0;
    dynsel_lock_release(&lock);
    return status;
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    dynsel_lock_acquire(&lock);
    users--;
    dynsel_lock_release(&lock);
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
        .number = CONFIG_DYNSEL_THREADS_QUEUE + 1,
        .function = DYNSEL_TEXT("dynsel_threads_backend"),
        .subject = DYNSEL_TEXT(worker->name),
        .detail = DYNSEL_TEXT(DYNSEL_OPTION(
            THREADS_QUEUE,
            "and as many pieces of work wait already: wait for some, or set it to {} or more"))});
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
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    .times_runs_alone = true,
#endif
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

/* A policy asks it only for resources, which belong to the backend above. */
static const dynsel_backend_ops started_ops = {.name = "threads",
                                               .reports = DYNSEL_THREADS_REPORTS,
                                               .get_default_resources = get_started_resources};

dynsel_backend dynsel_threads_if_started = {&started_ops};
