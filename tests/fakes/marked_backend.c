/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700

#include "fakes/marked_backend.h"

#include "support/signals.h"
#include "test.h"

uint32_t marked_releases;

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    (void)backend;
    ((marked_device *)own)->attached++;
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    ((marked_device *)own)->attached--;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    marked_device *device = work->own;
    (void)backend;
    if (device->refuses != DYNSEL_OK) {
        return device->refuses;
    }
    if (device->put - device->taken == device->room) {
        return DYNSEL_E_AGAIN;
    }
    if (device->ends_in_start) {
        assert_status(DYNSEL_OK, dynsel_complete(work->token, DYNSEL_OK, 0));
        dynsel_work_call(work);
        return DYNSEL_OK;
    }
    dynsel_work_call(work);
    device->queue[device->put % MARKED_QUEUE] = work;
    device->put = device->put + 1; /* from here on an interrupt ends it */
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    assert_ptr_equal(work->done.native, marked_event());
    marked_releases++;
}

static const dynsel_backend_ops ops = {
    .name = "marked",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .outlives_submit = true,
    .marks_completion = true,
    .attach = attach,
    .detach = detach,
    .start = start,
    .release = release,
};

dynsel_backend marked_backend = {&ops};

dynsel_resource marked_resource(marked_device *device)
{
    return (dynsel_resource){&marked_backend, device};
}

void marked_reset(marked_device *device)
{
    *device = (marked_device){.room = MARKED_QUEUE};
}

/* The work may be gone as soon as its end was told. */
void marked_end(marked_device *device, dynsel_status status, uint64_t end_ns)
{
    if (device->put != device->taken) {
        const uint32_t token = device->queue[device->taken % MARKED_QUEUE]->token;
        device->taken = device->taken + 1;
        assert_status(DYNSEL_OK, dynsel_complete(token, status, end_ns));
    }
}

void *marked_event(void)
{
    static char event;
    return &event;
}

static marked_device *timed;
static unsigned timed_count;

static void interrupt(int number)
{
    (void)number;
    for (unsigned i = 0; i < timed_count; i++) {
        marked_end(&timed[i], DYNSEL_OK, 0);
    }
}

void marked_timer_on(marked_device *devices, unsigned count)
{
    enum { PERIOD_US = 200 };
    timed = devices;
    timed_count = count;
    use_signal(SIGALRM, interrupt);
    set_timer(PERIOD_US);
}

void marked_timer_off(void)
{
    set_timer(0);
    timed_count = 0;
}
