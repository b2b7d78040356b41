/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "device.h"
#include "result.h"

enum { HOSTS = 2, WORKERS = 2 };

atomic_ullong soak_started;
atomic_ullong soak_enqueued;
atomic_ullong soak_done_at_once;

static const soak_kind kinds[SOAK_KINDS] = {SOAK_SUCCEEDS, SOAK_FAILS_BEFORE, SOAK_FAILS_AFTER};

dynsel_status soak_end_of(soak_kind kind)
{
    return kind == SOAK_SUCCEEDS ? DYNSEL_OK : (dynsel_status)(DYNSEL_E_USER - (int)kind);
}

static dynsel_status on_host(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    atomic_fetch_add_explicit(&soak_started, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&soak_done_at_once, 1, memory_order_relaxed);
    return soak_end_of(*(const soak_kind *)args);
}

#if CONFIG_DYNSEL_BACKEND_OPENCL
static dynsel_status on_device(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const soak_kind kind = *(const soak_kind *)args;
    if (kind == SOAK_FAILS_BEFORE) {
        return on_host(where, args, done);
    }
    atomic_fetch_add_explicit(&soak_started, 1, memory_order_relaxed);
    const dynsel_status status = soak_enqueue(where, done);
    soak_must(status == DYNSEL_OK, "soak_enqueue");
    atomic_fetch_add_explicit(&soak_enqueued, 1, memory_order_relaxed);
    return soak_end_of(kind);
}

static const dynsel_task_form forms[] = {{&dynsel_opencl_backend, on_device}, {NULL, on_host}};
#else
static const dynsel_task_form forms[] = {{NULL, on_host}};
#endif

#define TASK(kind)                                                                                 \
    {                                                                                              \
        .forms = forms, .form_count = sizeof forms / sizeof forms[0], .args = (void *)&kinds[kind] \
    }

const dynsel_task *soak_task(soak_kind kind)
{
    static const dynsel_task tasks[SOAK_KINDS] = {
        [SOAK_SUCCEEDS] = TASK(SOAK_SUCCEEDS),
        [SOAK_FAILS_BEFORE] = TASK(SOAK_FAILS_BEFORE),
        [SOAK_FAILS_AFTER] = TASK(SOAK_FAILS_AFTER),
    };
    return &tasks[kind];
}

size_t soak_make_resources(dynsel_resource *resources, size_t capacity)
{
    size_t count = 0;
    for (; count < HOSTS && count < capacity; count++) {
        resources[count] = (dynsel_resource){.backend = &dynsel_inline_backend};
    }
#if CONFIG_DYNSEL_BACKEND_THREADS
    size_t workers = 0;
    soak_must(
        dynsel_threads_start(CONFIG_DYNSEL_THREADS_WORKERS < WORKERS ? CONFIG_DYNSEL_THREADS_WORKERS
                                                                     : WORKERS) == DYNSEL_OK &&
            dynsel_threads_resources(&resources[count], capacity - count, &workers) == DYNSEL_OK,
        "the workers cannot be started");
    count += workers;
#endif
    return soak_open_devices(resources, count, capacity);
}
