/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of operations: one backend for the hosts of other ranks, one for their devices. */
#include <dynsel/dynsel.h>

#include "backends/mpi/commands.h"
#include "backends/mpi/operations.h"
#include "backends/mpi/ranks.h"
#include "backends/mpi/state.h"
#include "base/fail.h"
#include "policy/report.h"
#include "submission/call_task.h"
#include "submission/slot.h"

enum { CALLS_FOR_DATA = 16 }; /* of MPI in one look at a transfer: 2 us, or 80 us of copying */

static dynsel_status list_hosts(dynsel_backend *backend, dynsel_resource *resources,
                                size_t capacity, size_t *count)
{
    return dynsel_mpi_list(backend, false, resources, capacity, count);
}

static dynsel_status list_devices(dynsel_backend *backend, dynsel_resource *resources,
                                  size_t capacity, size_t *count)
{
    return dynsel_mpi_list(backend, true, resources, capacity, count);
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    const dynsel_mpi_resource *const resource = dynsel_mpi_resource_of(handle);
    (void)backend;
    return resource != NULL ? resource->description.name : NULL;
}

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    (void)backend;
    if (dynsel_mpi_resource_of(own) == NULL) {
        return dynsel_mpi_refuse_handle();
    }
    dynsel_mpi_use(true);
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    dynsel_mpi_use(false);
}

/* Whether the work is a command group's. The slot of a second run knows only that of the first. */
static bool is_group(const dynsel_work *work)
{
    uint32_t number = dynsel_slot_number_in(work->token);
#if CONFIG_DYNSEL_REPEAT
    number = work->run == (uint8_t)DYNSEL_SECOND_RUN ? dynsel_repeat_other(number) : number;
#endif
    return dynsel_slot_can_be_pending(dynsel_slot_at(number));
}

/* A command group sends its command from within its function; a task is sent as its number. */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    const dynsel_mpi_resource *const resource = work->own;
    (void)backend;
    if (dynsel_mpi_is_lost(resource->rank)) {
        return dynsel_mpi_fail_lost(resource->rank);
    }
    if (!is_group(work)) {
        return dynsel_mpi_start_task(work);
    }
    dynsel_call_inline(work);
    return DYNSEL_OK;
}

/* MPI moves data only while it is called: who polls for them sleeps longer and longer between. */
static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    const dynsel_mpi_operation *const operation = work->done.native;
    (void)backend;
    const dynsel_status status = dynsel_mpi_operation_result(operation);
    if (status != DYNSEL_E_AGAIN) {
        return status;
    }
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    (void)dynsel_mpi_advance_operation(operation, operation->has_data ? CALLS_FOR_DATA : 1);
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return dynsel_mpi_operation_result(operation);
}

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    return dynsel_mpi_wait_for(work->done.native);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
static dynsel_status poll_ended(dynsel_backend *backend, const dynsel_work *const *works,
                                size_t count)
{
    (void)backend;
    bool succeeded = true;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    (void)dynsel_mpi_advance();
    dynsel_spinlock_release(&dynsel_mpi_lock);
    for (size_t i = 0; i < count && succeeded; i++) {
        succeeded = dynsel_mpi_has_succeeded(works[i]->done.native);
    }
    return succeeded ? DYNSEL_OK : DYNSEL_E_AGAIN;
}
#endif

/* By the clock of the rank that did it; the end is when it was seen. */
static void measure(dynsel_backend *backend, dynsel_work *work)
{
    const dynsel_mpi_operation *const operation = work->done.native;
    (void)backend;
    const uint64_t now_ns = dynsel_now_ns();
    work->ended_ns = operation->took_ns != 0 ? now_ns : 0;
    work->ready_ns = now_ns - operation->took_ns;
    work->began = true;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_release_operation(work->done.native);
    dynsel_spinlock_release(&dynsel_mpi_lock);
}

static bool is_lost(dynsel_backend *backend, const void *own)
{
    const dynsel_mpi_resource *const resource = own;
    (void)backend;
    return dynsel_mpi_is_lost(resource->rank);
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* With its rank, whose memory the work may still change. */
static void give_up(dynsel_backend *backend, void *own)
{
    const dynsel_mpi_resource *const resource = own;
    (void)backend;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_lose(resource->rank, 0);
    dynsel_spinlock_release(&dynsel_mpi_lock);
}
#endif

DYNSEL_ASSERT_REPORTS(DYNSEL_MPI_REPORTS, DYNSEL_NEEDS_OF_POLICIES);

#if CONFIG_DYNSEL_ASPECTS
#define DESCRIBE .describe = dynsel_mpi_describe,
#else
#define DESCRIBE
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
#define GIVE_UP .give_up = give_up,
#else
#define GIVE_UP
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
#define MEMORY(memory_) .poll_ended = poll_ended, .memory = (memory_),
#else
#define MEMORY(memory_)
#endif

/* Of both; list_: their resources, memory_: their memory operations. */
#define BACKEND_OPS(list_, memory_)                                                                \
    {                                                                                              \
        .name = "mpi", .reports = DYNSEL_MPI_REPORTS, .outlives_submit = true,                     \
        .poll_synchronizes = true, .get_default_resources = (list_),                               \
        .resource_name = resource_name, DESCRIBE.attach = attach, .detach = detach,                \
        .start = start, .poll = poll, .wait = wait, .measure = measure, .release = release,        \
        .is_lost = is_lost, GIVE_UP MEMORY(memory_)                                                \
    }

static const dynsel_backend_ops host_ops = BACKEND_OPS(list_hosts, &dynsel_mpi_host_memory);
static const dynsel_backend_ops device_ops = BACKEND_OPS(list_devices, &dynsel_mpi_device_memory);

dynsel_backend dynsel_mpi_backend = {&host_ops};
dynsel_backend dynsel_mpi_device_backend = {&device_ops};
