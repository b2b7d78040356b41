/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that only take time, for tests of auto_tune: selections are reported on as a program
 * would that runs the work itself, on a clock that stands still unless the test moves it.
 */
#ifndef DYNSEL_TESTS_AUTO_TUNE_WORLD_H
#define DYNSEL_TESTS_AUTO_TUNE_WORLD_H

#include <dynsel/auto_tune.h>

#include <string.h>

#include "random.h"
#include "test.h"

typedef struct world_device {
    uint64_t ns;             /* what a run needs */
    uint32_t jitter_percent; /* more or less */
    uint32_t spike_percent;  /* of the runs need spike_factor times as long */
    uint32_t spike_factor;
    uint64_t compile_ns; /* the first run needs this in addition */
    bool fails;
} world_device;

typedef struct world {
    world_device devices[CONFIG_DYNSEL_MAX_RESOURCES];
    uint32_t count;
    test_random random;
    uint64_t now_ns;
    /* what happened */
    uint64_t needed_ns; /* by the devices' own measure, without jitter and spikes */
    uint32_t runs[CONFIG_DYNSEL_MAX_RESOURCES];
    uint32_t timed;
    uint32_t changes; /* between best known ones */
    uint32_t best;
    uint32_t reasons[16];
    dynsel_selection last;
} world;

static dynsel_auto_tune_policy tuner;
static dynsel_resource world_resources[CONFIG_DYNSEL_MAX_RESOURCES];

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
static dynsel_status world_start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static dynsel_backend_ops world_ops = {
    .name = "world",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .start = world_start,
};

static dynsel_backend world_backend = {.ops = &world_ops};
#else
#include <dynsel/inline.h>
#define world_backend dynsel_inline_backend
#endif

static inline dynsel_status world_nothing(const dynsel_resource *where, void *args,
                                          dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static inline void world_open(uint32_t count, uint64_t resample_interval_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        world_resources[i] = (dynsel_resource){&world_backend, &world_resources[i]};
    }
    const dynsel_options options = {.resources = world_resources, .count = count};
    tuner.policy = (dynsel_policy){.ops = NULL}; /* whatever the test before left */
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuner, &options, resample_interval_ns));
}

static inline void world_close(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

static inline uint64_t world_time(world *w, uint32_t index)
{
    const world_device *device = &w->devices[index];
    uint64_t ns = device->ns;
    if (device->jitter_percent != 0) {
        const uint32_t most = 2 * device->jitter_percent;
        ns = ns *
             (1000000 - 10000 * device->jitter_percent +
              test_random_below(&w->random, 10000 * most + 1)) /
             1000000;
    }
    if (device->spike_percent != 0 && test_random_below(&w->random, 100) < device->spike_percent) {
        ns *= device->spike_factor;
    }
    return ns + (w->runs[index] == 0 ? device->compile_ns : 0);
}

static inline void world_tell(dynsel_selection *selection, dynsel_execution_info info,
                              uint64_t value)
{
    if (dynsel_selection_needs(selection, info)) {
        assert_status(DYNSEL_OK, info == DYNSEL_TASK_TIME
                                     ? dynsel_report_value(selection, info, value)
                                     : dynsel_report(selection, info));
    }
}

static inline dynsel_selection world_choose(const dynsel_task *task)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&tuner.policy, task, &selection));
    return selection;
}

static inline void world_note(world *w, const dynsel_selection *selection)
{
    w->reasons[selection->reason]++;
    if (selection->reason == DYNSEL_REASON_BEST_KNOWN) {
        w->changes += selection->index != w->best ? 1 : 0;
        w->best = selection->index;
    }
    w->timed += dynsel_selection_needs(selection, DYNSEL_TASK_TIME) ? 1 : 0;
    w->last = *selection;
}

/* One piece of work, from its selection to its completion. */
static inline uint32_t world_run(world *w, const dynsel_task *task)
{
    dynsel_selection selection = world_choose(task);
    const uint32_t index = selection.index;
    const uint64_t ns = world_time(w, index);
    world_note(w, &selection);
    w->runs[index]++;
    w->needed_ns += w->devices[index].ns;
    world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    w->now_ns += ns;
    if (!w->devices[index].fails) {
        world_tell(&selection, DYNSEL_TASK_TIME, ns);
    }
    world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
    return index;
}

#endif
