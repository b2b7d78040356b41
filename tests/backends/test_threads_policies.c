/* SPDX-License-Identifier: Apache-2.0 */
/* Every policy of the library over the host and workers, from one thread and from many. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "any_policy.h"
#include "room.h"
#include "support/count_run.h"
#include "test.h"

enum { WORKERS = WORKERS_UP_TO(4) };

static atomic_uint mistakes;

static dynsel_status refuse_work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

static any_policy any;

enum { MIXED = RESOURCES_UP_TO(WORKERS + 1) };

static void init_mixed(const any_kind *kind, size_t offset)
{
    dynsel_resource resources[MIXED] = {{&dynsel_inline_backend, NULL}};
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(MIXED - 1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&resources[1], MIXED - 1, &count));
    memset(&any, 0, sizeof any);
    atomic_store(&runs, 0);
    assert_status(
        DYNSEL_OK,
        kind->init(&any, &(dynsel_options){.resources = resources, .count = MIXED}, offset));
}

static void each_policy_runs_work_on_host_and_workers(void **state)
{
    NEEDS(MIXED >= 2);
    enum { COUNT = 1000 };
    (void)state;
    for (const any_kind *kind = any_kinds; kind->init != NULL; kind++) {
        init_mixed(kind, 1);
        for (unsigned k = 0; k < COUNT; k++) {
            const dynsel_task task = DYNSEL_TASK(count_run, NULL);
            const bool detached = k % 3 != 0;
            assert_status(DYNSEL_OK, detached ? dynsel_submit(&any.policy, &task, NULL)
                                              : dynsel_submit_and_wait(&any.policy, &task));
        }
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&any.policy)));
        assert_int_equal(atomic_load(&runs), COUNT);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
        assert_status(DYNSEL_OK, dynsel_threads_stop());
    }
}

enum { THREADS = 8, PER_THREAD = 2000 };

static void expect(dynsel_status expected, dynsel_status actual)
{
    if (actual != expected) {
        atomic_fetch_add(&mistakes, 1);
    }
}

static void *submit_many(void *unused)
{
    for (unsigned k = 0; k < PER_THREAD; k++) {
        const dynsel_task task = DYNSEL_TASK(k % 10 == 3 ? refuse_work : count_run, NULL);
        dynsel_submission submission;
        if (k % 10 != 3 && k % 2 == 0) {
            expect(DYNSEL_OK, dynsel_submit(&any.policy, &task, NULL));
        } else {
            expect(DYNSEL_OK, dynsel_submit(&any.policy, &task, &submission));
            expect(k % 10 == 3 ? DYNSEL_E_TASK : DYNSEL_OK, dynsel_wait(&submission));
        }
    }
    return unused;
}

static void eight_threads_submit_to_host_and_workers(void **state)
{
    NEEDS(MIXED >= 2 && CONFIG_DYNSEL_MAX_IN_FLIGHT > THREADS);
    (void)state;
    for (const any_kind *kind = any_kinds; kind->init != NULL; kind++) {
        pthread_t threads[THREADS];
        atomic_store(&mistakes, 0);
        init_mixed(kind, 1);
        for (unsigned k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_create(&threads[k], NULL, submit_many, NULL), 0);
        }
        for (unsigned k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_join(threads[k], NULL), 0);
        }
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&any.policy)));
        assert_int_equal(atomic_load(&runs), THREADS * PER_THREAD / 10 * 9);
        assert_int_equal(atomic_load(&mistakes), 0);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
        assert_status(DYNSEL_OK, dynsel_threads_stop());
    }
}

enum { MOST_SLOTS = 64, CROWD = CONFIG_DYNSEL_MAX_IN_FLIGHT + 16, PER_VISITOR = 200 };

static void *submit_and_wait_often(void *unused)
{
    for (unsigned k = 0; k < PER_VISITOR; k++) {
        expect(DYNSEL_OK, dynsel_submit_and_wait(&any.policy, &DYNSEL_TASK(count_run, NULL)));
    }
    return unused;
}

/* Whoever finds no slot waits for one, and nobody is refused. */
static void threads_beyond_slot_count_wait_for_slots(void **state)
{
    static pthread_t threads[CROWD];
    const any_kind *kind = any_kinds;
    (void)state;
    NEEDS(MIXED >= 2 && CONFIG_DYNSEL_MAX_IN_FLIGHT <= MOST_SLOTS && kind->init != NULL);
    atomic_store(&mistakes, 0);
    init_mixed(kind, 0); /* the host where the policy stays there: complete at once */
    for (unsigned k = 0; k < CROWD; k++) {
        assert_int_equal(pthread_create(&threads[k], NULL, submit_and_wait_often, NULL), 0);
    }
    for (unsigned k = 0; k < CROWD; k++) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    }
    assert_int_equal(atomic_load(&runs), CROWD * PER_VISITOR);
    assert_int_equal(atomic_load(&mistakes), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_runs_work_on_host_and_workers),
        cmocka_unit_test(eight_threads_submit_to_host_and_workers),
        cmocka_unit_test(threads_beyond_slot_count_wait_for_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
