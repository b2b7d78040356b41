/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/manual_backend.h"

#include "test.h"

#include <sched.h>

static manual_backend *outer(dynsel_backend *backend)
{
    return (manual_backend *)(void *)backend;
}

static unsigned number_of(const manual_backend *manual, const manual_event *event)
{
    return (unsigned)(event - manual->events);
}

static void check_in_use(manual_backend *manual, const manual_event *event)
{
    const manual_state state = atomic_load(&event->state);
    if (state == MANUAL_RELEASED || state == MANUAL_UNUSED || state == MANUAL_GIVEN_UP) {
        atomic_fetch_add(&manual->mistakes, 1);
    }
}

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    (void)backend;
    manual_queue *queue = own;
    if (queue->refuses_attach) {
        return dynsel_fail(
            &(dynsel_error){.status = DYNSEL_E_DEVICE, .function = "attach", .code = 77});
    }
    atomic_fetch_add(&queue->attached, 1);
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    atomic_fetch_sub(&((manual_queue *)own)->attached, 1);
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    manual_backend *manual = outer(backend);
    manual_queue *queue = work->own;
    if (atomic_load(&queue->refuses)) {
        return dynsel_fail(
            &(dynsel_error){.status = DYNSEL_E_OUT_OF_SERVICE, .function = "manual", .code = -6});
    }
    const unsigned room = atomic_load(&queue->room);
    if (atomic_load(&queue->is_full) || (room != 0 && atomic_load(&queue->held) >= room)) {
        return DYNSEL_E_AGAIN;
    }
    atomic_fetch_add(&manual->starts, 1);
    dynsel_work_call(work);
#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    if (queue->ends_at_start && work->done.native != NULL) {
        atomic_store(&((manual_event *)work->done.native)->state, MANUAL_COMPLETE);
        work->over = true;
    }
#endif
    return DYNSEL_OK;
}

static dynsel_status result_of(manual_state state)
{
    if (state == MANUAL_RUNNING) {
        return DYNSEL_E_AGAIN;
    }
    if (state == MANUAL_FAILED) {
        return dynsel_fail(
            &(dynsel_error){.status = DYNSEL_E_DEVICE, .function = "manual", .code = -5});
    }
    return DYNSEL_OK;
}

static void complete_up_to(manual_backend *manual, unsigned last)
{
    for (unsigned i = 0; i <= last; i++) {
        manual_state expected = MANUAL_RUNNING;
        if (manual->events[i].queue == manual->events[last].queue) {
            atomic_compare_exchange_strong(&manual->events[i].state, &expected, MANUAL_COMPLETE);
        }
    }
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    manual_backend *manual = outer(backend);
    manual_event *event = work->done.native;
    atomic_fetch_add(&manual->polls, 1);
    check_in_use(manual, event);
    if (atomic_load(&manual->wait_completes) && atomic_load(&event->state) == MANUAL_RUNNING &&
        atomic_fetch_add(&event->looks, 1) >= MANUAL_MANY_LOOKS) {
        complete_up_to(manual, number_of(manual, event));
    }
    return result_of(atomic_load(&event->state));
}

static void note_waited(manual_queue *queue, unsigned number)
{
    unsigned seen = atomic_load(&queue->newest_waited);
    while (seen < number + 1 &&
           !atomic_compare_exchange_weak(&queue->newest_waited, &seen, number + 1)) {
    }
}

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    manual_backend *manual = outer(backend);
    const manual_event *event = work->done.native;
    atomic_fetch_add(&manual->waits, 1);
    check_in_use(manual, event);
    if (atomic_load(&manual->wait_completes)) {
        complete_up_to(manual, number_of(manual, event));
    }
    while (atomic_load(&event->state) == MANUAL_RUNNING) {
        sched_yield();
    }
    note_waited(event->queue, number_of(manual, event));
    return result_of(atomic_load(&event->state));
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    manual_backend *manual = outer(backend);
    manual_event *event = work->done.native;
    if (atomic_load(&event->state) != MANUAL_GIVEN_UP) {
        check_in_use(manual, event);
    }
    atomic_store(&event->state, MANUAL_RELEASED);
    atomic_fetch_sub(&event->queue->held, 1);
    atomic_fetch_add(&manual->releases, 1);
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* All that runs on the queue, of whichever policy. */
static void give_up(dynsel_backend *backend, void *own)
{
    manual_backend *const manual = outer(backend);
    for (unsigned i = 0; i < atomic_load(&manual->event_count); i++) {
        manual_state expected = MANUAL_RUNNING;
        if (manual->events[i].queue == own) {
            atomic_compare_exchange_strong(&manual->events[i].state, &expected, MANUAL_GIVEN_UP);
        }
    }
}
#define MANUAL_GIVES_UP .give_up = give_up,
#else
#define MANUAL_GIVES_UP
#endif

#define MANUAL_OPS(synchronizes)                                                                   \
    {                                                                                              \
        .name = "manual", .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,              \
        .outlives_submit = true, .poll_synchronizes = (synchronizes), .attach = attach,            \
        .detach = detach, MANUAL_GIVES_UP.start = start, .poll = poll, .wait = wait,               \
        .release = release                                                                         \
    }

static const dynsel_backend_ops synchronizing_ops = MANUAL_OPS(true);
static const dynsel_backend_ops polling_ops = MANUAL_OPS(false);

void manual_backend_reset(manual_backend *backend, bool poll_synchronizes)
{
    const unsigned used = atomic_load(&backend->event_count);
    for (unsigned i = 0; i < used; i++) {
        atomic_store(&backend->events[i].state, MANUAL_UNUSED);
    }
    for (unsigned i = 0; i < MANUAL_QUEUES; i++) {
        manual_queue *queue = &backend->queues[i];
        atomic_store(&queue->refuses, false);
        atomic_store(&queue->is_full, false);
        atomic_store(&queue->room, 0);
        atomic_store(&queue->held, 0);
        atomic_store(&queue->attached, 0);
        atomic_store(&queue->newest_waited, 0);
        queue->refuses_attach = false;
    }
    backend->backend.ops = poll_synchronizes ? &synchronizing_ops : &polling_ops;
    atomic_uint *const counters[] = {&backend->event_count, &backend->starts,   &backend->polls,
                                     &backend->waits,       &backend->releases, &backend->mistakes};
    for (unsigned i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        atomic_store(counters[i], 0);
    }
    atomic_store(&backend->wait_completes, true);
}

dynsel_resource manual_resource(manual_backend *backend, unsigned queue)
{
    return (dynsel_resource){.backend = &backend->backend, .handle = &backend->queues[queue]};
}

manual_event *manual_event_new(manual_backend *backend, const dynsel_resource *where)
{
    const unsigned number = atomic_fetch_add(&backend->event_count, 1);
    assert_in_range(number, 0, MANUAL_EVENTS - 1);
    manual_event *event = &backend->events[number];
    event->queue = where->handle;
    atomic_fetch_add(&event->queue->held, 1);
    atomic_store(&event->looks, 0);
    atomic_store(&event->state, MANUAL_RUNNING);
    return event;
}

dynsel_status manual_enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    done->native = manual_event_new(outer(where->backend), where);
    return DYNSEL_OK;
}

static void end(manual_backend *backend, unsigned event, manual_state state)
{
    manual_state expected = MANUAL_RUNNING;
    assert_true(atomic_compare_exchange_strong(&backend->events[event].state, &expected, state));
}

void manual_complete(manual_backend *backend, unsigned event)
{
    end(backend, event, MANUAL_COMPLETE);
}

void manual_fail(manual_backend *backend, unsigned event)
{
    end(backend, event, MANUAL_FAILED);
}

void manual_assert_clean(manual_backend *backend)
{
    assert_int_equal(atomic_load(&backend->mistakes), 0);
    assert_int_equal(atomic_load(&backend->releases), atomic_load(&backend->event_count));
    for (unsigned i = 0; i < atomic_load(&backend->event_count); i++) {
        assert_int_equal(atomic_load(&backend->events[i].state), MANUAL_RELEASED);
    }
}

bool manual_is_synchronized(manual_backend *backend, unsigned event)
{
    return backend->backend.ops->poll_synchronizes ||
           atomic_load(&backend->events[event].queue->newest_waited) > event;
}
