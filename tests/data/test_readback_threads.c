/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that end while other threads bring back what their work wrote. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "support/places.h"

enum {
    THREADS = 3,
    BUFFERS = 3,
    ROUNDS = CONFIG_DYNSEL_HAS_FULL_SPEED ? 1500 : 30,
    RUNS = 6,
    DEVICES = 2
};

static int32_t numbers[BUFFERS][ELEMENTS];
static dynsel_buffer buffers[BUFFERS];
static atomic_uint failures;
static atomic_uint told;

/* A policy that knows whether it is there. */
typedef struct ear {
    dynsel_policy policy;
    atomic_bool is_open;
    unsigned turn;
} ear;

static dynsel_status take_turns(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    ear *e = (ear *)(void *)policy;
    (void)task;
    selection->index = e->turn++ % DEVICES;
    selection->wants |= DYNSEL_TASK_READBACK_TIME;
    return DYNSEL_OK;
}

static void hear(dynsel_policy *policy, const dynsel_selection *selection,
                 dynsel_execution_info info, uint64_t value)
{
    ear *e = (ear *)(void *)policy;
    for (unsigned i = 0; i < 4 && info == DYNSEL_TASK_READBACK_TIME; i++) {
        sched_yield(); /* for the policy to end meanwhile, if it can */
    }
    atomic_fetch_add(&failures, !atomic_load(&e->is_open) || selection->policy != policy ? 1 : 0);
    atomic_fetch_add(&failures, info == DYNSEL_TASK_READBACK_TIME && value == 0 ? 1 : 0);
    atomic_fetch_add(&told, info == DYNSEL_TASK_READBACK_TIME ? 1 : 0);
}

static const dynsel_policy_ops ear_ops = {
    .name = "ear", .needs = DYNSEL_TASK_TIME, .try_select = take_turns, .report = hear};

static void expect(dynsel_status status)
{
    atomic_fetch_add(&failures, status != DYNSEL_OK ? 1 : 0);
}

static dynsel_options devices(dynsel_resource *resources)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        resources[i] = simulated_resource(&sim, i);
    }
    return (dynsel_options){.resources = resources, .count = DEVICES};
}

static void write_some(dynsel_policy *policy, unsigned me, unsigned round)
{
    for (unsigned i = 0; i < RUNS; i++) {
        const job what = set_all(buffers[(me + i + round) % BUFFERS], (int32_t)i);
        expect(run_job_with(policy, &what));
    }
}

static void look_at(dynsel_buffer buffer)
{
    dynsel_host_accessor seen = {0};
    const dynsel_status status = dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ);
    expect(status);
    if (status == DYNSEL_OK) {
        const int32_t *data = seen.data;
        atomic_fetch_add(&failures, data[1] != data[0] + 1 ? 1 : 0);
        expect(dynsel_host_accessor_close(&seen));
    }
}

static void *live_and_die(void *argument)
{
    static ear ears[THREADS];
    static dynsel_auto_tune_policy tuners[THREADS];
    const unsigned me = (unsigned)(uintptr_t)argument;
    ear *const e = &ears[me];
    dynsel_resource resources[DEVICES];
    const dynsel_options options = devices(resources);
    for (unsigned round = 0; round < ROUNDS; round++) {
        e->policy = (dynsel_policy){.ops = NULL};
        expect(dynsel_policy_init(&e->policy, &ear_ops, &options));
        atomic_store(&e->is_open, true);
        expect(dynsel_auto_tune_init(&tuners[me], &options, DYNSEL_NEVER_RESAMPLE));
        write_some(&e->policy, me, round);
        write_some(&tuners[me].policy, me + 1, round);
        look_at(buffers[(me + round) % BUFFERS]);
        write_some(&e->policy, me, round);
        look_at(buffers[(me + round + 2) % BUFFERS]);
        expect(dynsel_policy_deinit(&e->policy));
        atomic_store(&e->is_open, false);
        expect(dynsel_policy_deinit(&tuners[me].policy));
        memset(&tuners[me], 0, sizeof tuners[me]);
        look_at(buffers[(me + round + 1) % BUFFERS]);
    }
    return NULL;
}

static void policies_deinit_during_copy_back_by_other_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    places_begin(false);
    for (unsigned i = 0; i < DEVICES; i++) {
        sim.devices[i].pace = SIMULATED_WHEN_POLLED;
        sim.devices[i].polls = 3;
    }
    for (unsigned i = 0; i < BUFFERS; i++) {
        buffers[i] = new_buffer(numbers[i]);
        write_buffer(buffers[i], 0, 1);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, live_and_die, (void *)(uintptr_t)i));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_int_equal(0, atomic_load(&failures));
    assert_true(atomic_load(&told) > 0);
    for (unsigned i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    places_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_deinit_during_copy_back_by_other_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
