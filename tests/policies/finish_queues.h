/* SPDX-License-Identifier: Apache-2.0 */
/* earliest_finish over three queues whose work ends when a test says so, with a clock that the test
 * moves. */
#ifndef DYNSEL_TESTS_POLICIES_FINISH_QUEUES_H
#define DYNSEL_TESTS_POLICIES_FINISH_QUEUES_H

#include <dynsel/dynsel.h>

#include <stdatomic.h>
#include <string.h>

#include "fakes/manual_backend.h"
#include "test.h"

enum { QUEUES = 3, KINDS = CONFIG_DYNSEL_EARLIEST_FINISH_KINDS };

#define US UINT64_C(1000)

static _Atomic uint64_t now_ns;
static manual_backend manual;
static dynsel_backend_ops ops;
static dynsel_earliest_finish_policy finisher;
static uint64_t takes_ns[QUEUES]; /* a piece of work */
static uint64_t predicts_ns[QUEUES];
static unsigned predictions;
static unsigned asked; /* queues, as bits */
static const dynsel_task *predicted;

uint64_t dynsel_now_ns(void)
{
    return atomic_load(&now_ns);
}

static inline unsigned queue_number(const void *handle)
{
    return (unsigned)((const manual_queue *)handle - manual.queues);
}

static inline uint64_t predict(dynsel_backend *backend, const void *own, const dynsel_task *task)
{
    (void)backend;
    predictions++;
    asked |= 1u << queue_number(own);
    predicted = task;
    return predicts_ns[queue_number(own)];
}

#if CONFIG_DYNSEL_ASPECT_FP64
/* Queue 1 has it. */
static inline dynsel_status describe(dynsel_backend *backend, const void *handle,
                                     dynsel_device *device)
{
    (void)backend;
    device->aspects = queue_number(handle) == 1 ? DYNSEL_ASPECT_BIT(fp64) : 0;
    return DYNSEL_OK;
}
#endif

static inline void begin_with(unsigned count)
{
    dynsel_resource resources[QUEUES];
    for (unsigned i = 0; i < count; i++) {
        resources[i] = manual_resource(&manual, i);
        takes_ns[i] = 100 * US;
    }
    const dynsel_options options = {.resources = resources, .count = count};
    memset(&finisher.policy, 0, sizeof finisher.policy); /* the rest is as it was left */
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &options));
}

static inline int set_up(void **state)
{
    (void)state;
    atomic_store(&now_ns, (uint64_t)1 << 40);
    manual_backend_reset(&manual, true);
    ops = *manual.backend.ops;
    ops.reports |= DYNSEL_TASK_TIME;
#if CONFIG_DYNSEL_ASPECT_FP64
    ops.describe = describe;
#endif
    manual.backend.ops = &ops;
    predictions = 0;
    begin_with(QUEUES);
    return 0;
}

static inline void assert_nothing_is_unfinished(void)
{
    for (unsigned i = 0; i < finisher.policy.count; i++) {
        assert_int_equal(finisher.states[i].is.unfinished.value, 0);
        for (unsigned k = 0; k < KINDS; k++) {
            assert_int_equal(finisher.kinds[k].resources[i].unfinished.value, 0);
        }
    }
}

static inline int tear_down(void **state)
{
    (void)state;
    assert_nothing_is_unfinished();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    manual_assert_clean(&manual);
    return 0;
}

static inline dynsel_selection choose(const dynsel_task *task)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, task, &selection));
    return selection;
}

static inline unsigned newest_event(void)
{
    return atomic_load(&manual.event_count) - 1;
}

static inline unsigned queue_of(unsigned event)
{
    return queue_number(manual.events[event].queue);
}

static inline void pass(uint64_t ns)
{
    atomic_fetch_add(&now_ns, ns);
}

/* Submits the task, of manual_enqueue(), and lets it end. Returns its queue. */
static inline unsigned run(const dynsel_task *task)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, task, &submission));
    const unsigned event = newest_event();
    pass(takes_ns[queue_of(event)]);
    manual_complete(&manual, event);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return queue_of(event);
}

/* How many of the runs a queue gets. */
static inline unsigned run_on(unsigned queue, const dynsel_task *task, unsigned times)
{
    unsigned runs = 0;
    for (unsigned i = 0; i < times; i++) {
        runs += run(task) == queue ? 1 : 0;
    }
    return runs;
}

static inline dynsel_status wait_for_all(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&finisher.policy));
}

/* The entry of a task without key words. */
static const dynsel_finish_kind *entry_of(const dynsel_task *of)
{
    for (unsigned k = 0; k < KINDS; k++) {
        const dynsel_finish_kind *kind = &finisher.kinds[k];
        if (kind->tag.value != 0 && kind->kind.name[0].value == of->id &&
            (kind->kind.shape.value & 0xff) == 0) {
            return kind;
        }
    }
    return NULL;
}

#endif
