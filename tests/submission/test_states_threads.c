/* SPDX-License-Identifier: Apache-2.0 */
/* Threads submit while another one drains, retires and reinstates the resources: every piece of
 * work runs once, or twice if it is repeatable and its device failed, and ends once; no resource
 * stays taken, and one is always in service. */
#include <dynsel/dynsel.h>

#include <pthread.h>
#include <sched.h>

#include "fakes/manual_backend.h"
#include "random.h"
#include "room.h"
#include "test.h"

enum { THREADS = 4, PER_THREAD = 1500, QUEUES = RESOURCES_UP_TO(3), RIGHT = 7 };

static manual_backend manual;
static dynsel_round_robin_policy policy;
static atomic_uint mistakes;
static atomic_uint left;    /* threads that still submit */
static atomic_uint changes; /* heard of */
static atomic_uint run_count;
static atomic_bool stop;

static void expect(bool condition)
{
    atomic_fetch_add(&mistakes, condition ? 0 : 1);
}

static void hear(const dynsel_resource_change *change)
{
    expect(change->policy == &policy.policy && change->index < QUEUES &&
           change->before != change->after);
    atomic_fetch_add(&changes, 1);
}

/* The device ends all work in order; some of it fails. */
static void *be_the_device(void *seed)
{
    test_random random = {.state = *(const uint64_t *)seed};
    unsigned next = 0;
    while (!atomic_load(&stop) || next < atomic_load(&manual.event_count)) {
        if (next < atomic_load(&manual.event_count) &&
            atomic_load(&manual.events[next].state) != MANUAL_UNUSED) {
            const bool fails = test_random_below(&random, 16) == 0;
            manual_state expected = MANUAL_RUNNING;
            atomic_compare_exchange_strong(&manual.events[next].state, &expected,
                                           fails ? MANUAL_FAILED : MANUAL_COMPLETE);
            next++;
        } else {
            sched_yield();
        }
    }
    return NULL;
}

/* One after another: a run begins when the one before is over. */
typedef struct piece {
    unsigned runs;
    unsigned result;
    unsigned error; /* of the first run */
} piece;

static dynsel_status count_and_enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    piece *const p = args;
    p->result = RIGHT + (p->runs++ == 0 ? p->error : 0);
    return manual_enqueue(where, NULL, done);
}

static void *submit_and_collect(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < PER_THREAD; i++) {
        dynsel_submission submission;
        piece work = {.error = i % 5 == 0 ? 1 : 0};
        dynsel_task task = DYNSEL_TASK(count_and_enqueue, &work);
        unsigned most = 1;
#if CONFIG_DYNSEL_REPEAT
        const dynsel_repeat repeat = {
#if CONFIG_DYNSEL_SHADOW_CHECK
            .results = &work.result,
            .results_bytes = sizeof(work.result),
            .check_one_in = 3,
#endif
        };
        if (i % 2 == 0 && CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2 * THREADS) {
            task.repeat = &repeat;
            most = CONFIG_DYNSEL_SHADOW_CHECK ? 3 : 2;
        }
#endif
        dynsel_status status = dynsel_submit(&policy.policy, &task, &submission);
        /* all can be out for a moment: failures take them out, too */
        while (status == DYNSEL_E_OUT_OF_SERVICE || status == DYNSEL_E_FULL) {
            sched_yield();
            status = dynsel_submit(&policy.policy, &task, &submission);
        }
        expect(status == DYNSEL_OK);
        const dynsel_status end = dynsel_wait(&submission);
        expect(end == DYNSEL_OK || end == DYNSEL_E_DEVICE);
        expect(work.runs >= 1 && work.runs <= most);
        expect(work.result == RIGHT || (work.error != 0 && work.result == RIGHT + work.error));
        atomic_fetch_add(&run_count, work.runs);
    }
    atomic_fetch_sub(&left, 1);
    return NULL;
}

static void change_one(test_random *random)
{
    const uint32_t index = test_random_below(random, QUEUES);
    const uint32_t what = test_random_below(random, 4);
    if (what == 0) {
        const dynsel_status status = dynsel_resource_drain(&policy.policy, index);
        expect(status == DYNSEL_OK || status == DYNSEL_E_OUT_OF_SERVICE ||
               status == DYNSEL_E_NO_RESOURCE);
    } else if (what == 1) {
        const dynsel_status status = dynsel_resource_retire(&policy.policy, index);
        expect(status == DYNSEL_OK || status == DYNSEL_E_OUT_OF_SERVICE ||
               status == DYNSEL_E_NO_RESOURCE);
    } else {
        const dynsel_status status = dynsel_resource_reinstate(&policy.policy, index);
        expect(status == DYNSEL_OK || status == DYNSEL_E_INVALID);
    }
}

/* After the storm: each ends its probation, so none stayed taken. */
static void bring_all_back(void)
{
    atomic_store(&manual.wait_completes, true);
    for (uint32_t i = 0; i < QUEUES; i++) {
        dynsel_resource_state state = DYNSEL_RESOURCE_LOST;
        (void)!dynsel_resource_reinstate(&policy.policy, i);
        for (int k = 0; k < CONFIG_DYNSEL_PROBATION_SUCCESSES; k++) {
            dynsel_selection selection = {.policy = &policy.policy, .index = i};
            dynsel_submission submission;
            assert_status(DYNSEL_OK, dynsel_try_submit_selection(&selection,
                                                                 &DYNSEL_TASK(manual_enqueue, NULL),
                                                                 &submission));
            assert_status(DYNSEL_OK, dynsel_wait(&submission));
        }
        assert_status(DYNSEL_OK, dynsel_resource_get_state(&policy.policy, i, &state));
        assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state);
    }
}

static void nothing_is_lost_while_resources_come_and_go(void **state)
{
    (void)state;
    dynsel_resource resources[QUEUES];
    pthread_t threads[THREADS + 1];
    test_random random = {.state = test_seed()};
    uint64_t seed = test_random_next(&random);
    manual_backend_reset(&manual, true);
    atomic_store(&manual.wait_completes, false);
    for (unsigned i = 0; i < QUEUES; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy,
                                                     &(dynsel_options){.resources = resources,
                                                                       .count = QUEUES,
                                                                       .resource_changed = hear},
                                                     0));
    atomic_store(&left, THREADS);
    for (unsigned i = 0; i <= THREADS; i++) {
        assert_int_equal(0,
                         pthread_create(&threads[i], NULL,
                                        i < THREADS ? submit_and_collect : be_the_device, &seed));
    }
    while (atomic_load(&left) > 0) {
        change_one(&random);
        sched_yield();
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i <= THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_int_equal(0, atomic_load(&mistakes));
    assert_int_equal(atomic_load(&run_count), atomic_load(&manual.starts));
#if CONFIG_DYNSEL_REPEAT
    const dynsel_repeat_statistics repeats = dynsel_get_repeat_statistics();
    const unsigned at_least = THREADS * PER_THREAD + repeats.repeated;
#if CONFIG_DYNSEL_SHADOW_CHECK
    assert_in_range(atomic_load(&manual.starts), at_least + repeats.compared,
                    at_least + repeats.compared + repeats.mismatched + repeats.unchecked);
    print_message("%u pieces checked, %u mismatched, %u undecided, %u unchecked\n",
                  repeats.compared, repeats.mismatched, repeats.undecided, repeats.unchecked);
#else
    assert_int_equal(at_least, atomic_load(&manual.starts));
#endif
    print_message("%u second runs, %u failed too, %u found no resource\n", repeats.repeated,
                  repeats.failed, repeats.nowhere);
#else
    assert_int_equal(THREADS * PER_THREAD, atomic_load(&manual.starts));
#endif
    assert_true(dynsel_invariants_hold(&policy.policy));
    bring_all_back();
    assert_true(QUEUES == 1 || atomic_load(&changes) > 0);
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    manual_assert_clean(&manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_while_resources_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
