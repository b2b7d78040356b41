/* SPDX-License-Identifier: Apache-2.0 */
#include "accelerator.h"

#include <dynsel/port.h>

#include "board.h"

enum {
    TICK_US = 100,
    FAILS_EVERY = 100, /* of so many pieces of work the last ones fail, */
    FAILS_FOR = 3      /* these */
};

accelerator accelerators[ACCELERATORS] = {{.name = "fast", .ticks = 30},
                                          {.name = "slow", .ticks = 75}};
volatile uint32_t accelerator_interrupts, accelerator_ends, accelerator_refused_ends;

/* In the interrupt. */

/* The work may be gone as soon as its end was told. */
static void end_oldest(accelerator *a)
{
    const command *what = &a->queue[a->taken % ACCELERATOR_QUEUE].what;
    const dynsel_work *work = a->queue[a->taken % ACCELERATOR_QUEUE].work;
    const uint64_t now = (work->wants & DYNSEL_TASK_TIME) != 0 ? dynsel_now_ns() : 0;
    dynsel_status status = DYNSEL_E_DEVICE;
    if (a->taken % FAILS_EVERY < FAILS_EVERY - FAILS_FOR) {
        what->operation(what->data);
        status = DYNSEL_OK;
    }
    a->taken = a->taken + 1;
    accelerator_ends = accelerator_ends + 1;
    if (dynsel_complete(work->token, status, now) != DYNSEL_OK) {
        accelerator_refused_ends = accelerator_refused_ends + 1;
    }
}

/* Time that a piece of work spends in the queue is not the accelerator's. */
static void begin_oldest(accelerator *a)
{
    dynsel_work *work = a->queue[a->taken % ACCELERATOR_QUEUE].work;
    a->ticks_left = a->ticks;
    if ((work->wants & DYNSEL_TASK_TIME) != 0) {
        work->ready_ns = dynsel_now_ns();
        work->began = true;
    }
}

static void tick(accelerator *a)
{
    if (a->put == a->taken) {
        return;
    }
    if (a->ticks_left == 0) {
        begin_oldest(a);
    }
    if (--a->ticks_left == 0) {
        end_oldest(a);
    }
}

static void on_timer(void)
{
    accelerator_interrupts = accelerator_interrupts + 1;
    for (unsigned i = 0; i < ACCELERATORS; i++) {
        tick(&accelerators[i]);
    }
}

/* In the program. */

void accelerators_on(void)
{
    accelerator_interrupts = 0;
    accelerators[0].most = accelerators[1].most = 0;
    board_timer_start(TICK_US, on_timer);
}

void accelerators_off(void)
{
    board_timer_stop();
}

/* The interrupt sees the new entry as a whole, or not at all. */
static void put(accelerator *a, dynsel_work *work)
{
    const uint32_t before = dynsel_port_enter_critical();
    const uint32_t place = a->put % ACCELERATOR_QUEUE;
    a->queue[place].work = work;
    a->queue[place].what = *(const command *)work->done.native;
    a->put++;
    if (a->put - a->taken > a->most) {
        a->most = a->put - a->taken;
    }
    dynsel_port_leave_critical(before);
}

/* The interrupt only makes room. */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    accelerator *a = work->own;
    (void)backend;
    if (a->put - a->taken == ACCELERATOR_QUEUE) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(work);
    if (work->done.native == NULL) { /* nothing to do but what the task function did */
        return dynsel_complete(work->token, DYNSEL_OK, 0);
    }
    put(a, work);
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work; /* the command is the program's */
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    for (unsigned i = 0; i < ACCELERATORS; i++) {
        if (handle == &accelerators[i]) {
            return accelerators[i].name;
        }
    }
    return NULL;
}

static const dynsel_backend_ops ops = {
    .name = "accelerator",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .outlives_submit = true,
    .marks_completion = true, /* so neither poll nor wait is needed */
    .resource_name = resource_name,
    .start = start,
    .release = release,
};

dynsel_backend accelerator_backend = {&ops};
