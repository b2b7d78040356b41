/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads on one policy: every piece of work runs once and ends once, and nothing is left
 * over. */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "test.h"

enum {
    THREADS = 8,
    PER_THREAD = SLOW_HERE ? 600 : 3000,
    QUEUES = RESOURCES_UP_TO(MANUAL_QUEUES),
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT
};

static manual_backend manual;
static dynsel_round_robin_policy policy;
static dynsel_round_robin_policy other; /* shares the table of submissions with `policy` */
static atomic_uint runs;
static atomic_uint wrong_statuses;
static atomic_bool stop;

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    atomic_fetch_add(&runs, 1);
    done->native = manual_event_new(&manual, where);
    return DYNSEL_OK;
}

static void expect(dynsel_status expected, dynsel_status actual)
{
    if (actual != expected) {
        atomic_fetch_add(&wrong_statuses, 1);
    }
}

/* The device: ends all work in order, a little later than it was given. */
static void *complete_events(void *unused)
{
    (void)unused;
    unsigned next = 0;
    while (!atomic_load(&stop) || next < atomic_load(&manual.event_count)) {
        if (next < atomic_load(&manual.event_count)) {
            manual_state expected = MANUAL_RUNNING;
            if (atomic_load(&manual.events[next].state) == MANUAL_UNUSED) {
                continue; /* numbered, not yet made */
            }
            atomic_compare_exchange_strong(&manual.events[next].state, &expected, MANUAL_COMPLETE);
            next++;
        } else {
            sched_yield();
        }
    }
    return NULL;
}

/* A small table can be full of finished work that other threads are about to collect. */
static void submit_in_the_end(dynsel_policy *to, dynsel_submission *submission)
{
    const dynsel_task task = DYNSEL_TASK(enqueue, NULL);
    dynsel_status status = dynsel_submit(to, &task, submission);
    while (status == DYNSEL_E_FULL) {
        sched_yield();
        status = dynsel_submit(to, &task, submission);
    }
    expect(DYNSEL_OK, status);
}

static void *submit_and_collect(void *number)
{
    const unsigned self = *(const unsigned *)number;
    dynsel_policy *own = self % 3 == 2 ? &other.policy : &policy.policy;
    for (unsigned i = 0; i < PER_THREAD; i++) {
        dynsel_submission submission;
        switch ((i + self) % 4) {
        case 0:
            submit_in_the_end(own, NULL);
            break;
        case 1:
            submit_in_the_end(own, &submission);
            expect(DYNSEL_OK, dynsel_wait(&submission));
            break;
        case 2:
            submit_in_the_end(own, &submission);
            expect(DYNSEL_OK, dynsel_submission_release(&submission));
            break;
        default:
            submit_in_the_end(own, &submission);
            if (i % 64 == 3) {
                expect(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(own)));
            }
            expect(DYNSEL_OK, dynsel_wait(&submission));
            expect(DYNSEL_E_STALE, dynsel_wait(&submission));
            break;
        }
    }
    return NULL;
}

static void start_policy(bool poll_synchronizes)
{
    manual_backend_reset(&manual, poll_synchronizes);
    atomic_store(&manual.wait_completes, false);
    atomic_store(&runs, 0);
    atomic_store(&stop, false);
    dynsel_resource resources[QUEUES];
    for (unsigned i = 0; i < QUEUES; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    const dynsel_options options = {.resources = resources, .count = QUEUES};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&other, &options, 0));
}

static void end_policy(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
    manual_assert_clean(&manual);
}

/* held: slots that finished work occupies all the time. */
static void storm(bool poll_synchronizes, unsigned held)
{
    static dynsel_submission kept[SLOTS];
    start_policy(poll_synchronizes);
    pthread_t device;
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    assert_int_equal(pthread_create(&device, NULL, complete_events, NULL), 0);
    for (unsigned i = 0; i < held; i++) {
        submit_in_the_end(&policy.policy, &kept[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, submit_and_collect, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (unsigned i = 0; i < held; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&kept[i]));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&other.policy)));
    atomic_store(&stop, true);
    pthread_join(device, NULL);
    assert_int_equal(atomic_load(&wrong_statuses), 0);
    assert_int_equal(atomic_load(&runs), THREADS * PER_THREAD + held);
    end_policy();
}

static void thread_storm_leaves_no_work_behind(void **state)
{
    (void)state;
    storm(true, 0);
    storm(false, 0);
}

static void thread_storm_on_last_slots_leaves_no_work_behind(void **state)
{
    (void)state;
    enum { MOST_LEFT = SLOTS < 3 ? SLOTS : 3 };
    for (unsigned left = 1; left <= MOST_LEFT; left++) {
        storm(true, SLOTS - left);
        storm(false, SLOTS - left);
    }
}

static dynsel_submission shared;
static dynsel_status shared_end; /* what all that wait for it have to be told */
static atomic_uint collected;
static atomic_uint returned;

static void *wait_for_shared(void *unused)
{
    (void)unused;
    const dynsel_status status = dynsel_wait(&shared);
    atomic_fetch_add(&collected, status == shared_end ? 1 : 0);
    atomic_fetch_add(&returned, 1);
    if (status != shared_end) {
        expect(DYNSEL_E_STALE, status);
    }
    return NULL;
}

static void threads_waiting_for_same_work_all_return(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        start_policy(round % 2 == 0);
        shared_end = round % 4 < 2 ? DYNSEL_OK : DYNSEL_E_DEVICE;
        atomic_store(&collected, 0);
        assert_status(DYNSEL_OK,
                      dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), &shared));
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_shared, NULL), 0);
        }
        if (shared_end == DYNSEL_OK) {
            manual_complete(&manual, 0);
        } else {
            manual_fail(&manual, 0);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
        assert_true(atomic_load(&collected) >= 1);
        assert_int_equal(atomic_load(&wrong_statuses), 0);
        end_policy();
    }
}

/* More than a slot can count, so that some of them have to wait before they can wait. */
static void waiters_beyond_slot_reference_limit_all_return(void **state)
{
    (void)state;
    enum { MANY = 70 };
    start_policy(true);
    shared_end = DYNSEL_OK;
    atomic_store(&collected, 0);
    atomic_store(&returned, 0);
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), &shared));
    pthread_t threads[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_shared, NULL), 0);
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_int_equal(atomic_load(&returned), 0);
    manual_complete(&manual, 0);
    for (unsigned i = 0; i < MANY; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(atomic_load(&collected) >= 1);
    assert_int_equal(atomic_load(&wrong_statuses), 0);
    end_policy();
}

enum { TURNS = (SLOW_HERE ? 1000 : 5000) * QUEUES };

static atomic_uint turns[CONFIG_DYNSEL_MAX_RESOURCES];

static dynsel_status found_beside;

static void *submit_beside(void *unused)
{
    (void)unused;
    found_beside = dynsel_submit_for(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL, 1000000);
    return NULL;
}

static dynsel_status (*manual_wait)(dynsel_backend *, const dynsel_work *);

/* Called by who is just collecting finished work. */
static dynsel_status wait_while_another_submits(dynsel_backend *backend, const dynsel_work *work)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, submit_beside, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return manual_wait(backend, work);
}

/* What another thread is collecting makes room in a moment: that is no full table, but one to be
 * waited for. */
static void submit_waits_for_slot_that_other_thread_collects(void **state)
{
    static dynsel_submission submissions[SLOTS];
    (void)state;
    start_policy(false);
    atomic_store(&manual.wait_completes, true);
    for (unsigned i = 0; i < SLOTS; i++) {
        submit_in_the_end(&policy.policy, &submissions[i]);
        manual_complete(&manual, i);
    }
    dynsel_progress();
    assert_null(submit_beside(NULL));
    assert_status(DYNSEL_E_FULL, found_beside);
    const dynsel_backend_ops *const before = manual.backend.ops;
    dynsel_backend_ops beside = *before;
    manual_wait = before->wait;
    beside.wait = wait_while_another_submits;
    manual.backend.ops = &beside;
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_TIMEOUT, found_beside);
    manual.backend.ops = before;
    for (unsigned i = 1; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    assert_int_equal(atomic_load(&wrong_statuses), 0);
    end_policy();
}

static void *take_turns(void *unused)
{
    (void)unused;
    for (int i = 0; i < TURNS; i++) {
        dynsel_selection selection;
        expect(DYNSEL_OK, dynsel_select(&policy.policy, &DYNSEL_TASK(enqueue, NULL), &selection));
        atomic_fetch_add(&turns[selection.index], 1);
    }
    return NULL;
}

static void round_robin_turns_of_threads_are_neither_lost_nor_doubled(void **state)
{
    (void)state;
    start_policy(true);
    const uint32_t longest = 1u << 30;
    policy.turn.value =
        longest - longest % QUEUES - 250 * QUEUES; /* the counting starts anew in between */
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_int_equal(atomic_load(&turns[i]), THREADS * TURNS / QUEUES);
    }
    end_policy();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_storm_leaves_no_work_behind),
        cmocka_unit_test(thread_storm_on_last_slots_leaves_no_work_behind),
        cmocka_unit_test(waiters_beyond_slot_reference_limit_all_return),
        cmocka_unit_test(threads_waiting_for_same_work_all_return),
        cmocka_unit_test(submit_waits_for_slot_that_other_thread_collects),
        cmocka_unit_test(round_robin_turns_of_threads_are_neither_lost_nor_doubled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
