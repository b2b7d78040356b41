/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads that accept, start, wait for and release pending work: every piece runs once and
 * ends once, what comes after another on its queue ends after it, and nothing is left over.
 */
#include <dynsel/dynsel.h>

#include <pthread.h>
#include <sched.h>

#include "fakes/manual_backend.h"
#include "random.h"
#include "room.h"
#include "submission/pending.h"
#include "test.h"

enum {
    THREADS = 6,
    PER_THREAD = 1200,
    QUEUES = RESOURCES_UP_TO(3),
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT
};

static manual_backend manual;
static dynsel_round_robin_policy policy;
static atomic_uint accepted, ended, mistakes;
static atomic_bool stop;

/* What waits, by slot; under the lock, as the acceptance is. */
typedef struct item {
    uint32_t token;
    uint32_t index; /* of the resource */
    uint32_t after; /* the token of what it comes after, + 1; or 0 */
    bool waits;
    bool ended;
} item;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static item items[SLOTS + 1];

static const dynsel_submit_options forever = {.function = "test",
                                              .deadline_ns = DYNSEL_WAIT_FOREVER};

static void expect(bool good)
{
    atomic_fetch_add(&mistakes, good ? 0 : 1);
}

static const dynsel_task task = {.function = manual_enqueue};

/* On its own queue it may start behind it, elsewhere when that is over. Under the lock. */
static bool may_start(const item *one)
{
    if (one->after == 0) {
        return true;
    }
    const item *before = &items[dynsel_slot_number_in(one->after - 1)];
    const bool same_queue = before->token == one->after - 1 && before->index == one->index;
    const dynsel_stage stage = dynsel_stage_of(one->after - 1);
    return stage == DYNSEL_STAGE_OVER || (stage == DYNSEL_STAGE_STARTED && same_queue);
}

static void wait_again(item *one, dynsel_slot *slot)
{
    pthread_mutex_lock(&lock);
    one->index = slot->selection.index;
    dynsel_pending_put_back(slot);
    one->waits = true;
    pthread_mutex_unlock(&lock);
}

static void start(item *one, dynsel_slot *slot)
{
    dynsel_status status = dynsel_pending_start(slot);
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        const dynsel_request request = {
            .options = &forever, .policy = &policy.policy, .task = &task};
        status = dynsel_pending_choose_again(&request, slot) == DYNSEL_OK ? DYNSEL_E_AGAIN
                                                                          : DYNSEL_E_DEVICE;
    }
    if (status == DYNSEL_E_AGAIN) {
        wait_again(one, slot);
    } else if (status != DYNSEL_OK) {
        dynsel_pending_fail(slot, &(const dynsel_error){.status = DYNSEL_E_DEVICE});
    }
}

static bool progress(void)
{
    bool waits = false;
    pthread_mutex_lock(&lock);
    for (uint32_t number = 1; number <= SLOTS; number++) {
        item *one = &items[number];
        if (one->waits && may_start(one)) {
            one->waits = false;
            dynsel_pending_take(dynsel_slot_at(number));
            pthread_mutex_unlock(&lock);
            start(one, dynsel_slot_at(number));
            pthread_mutex_lock(&lock);
        }
        waits = waits || one->waits;
    }
    pthread_mutex_unlock(&lock);
    return waits;
}

static dynsel_status dependency(const dynsel_slot *slot, uint32_t *token)
{
    pthread_mutex_lock(&lock);
    const uint32_t after = items[dynsel_slot_number(slot)].after;
    pthread_mutex_unlock(&lock);
    *token = after - 1;
    return after != 0 && dynsel_stage_of(*token) == DYNSEL_STAGE_STARTED ? DYNSEL_OK
                                                                         : DYNSEL_E_AGAIN;
}

static void note_end(dynsel_slot *slot)
{
    atomic_fetch_add(&ended, 1);
    pthread_mutex_lock(&lock);
    item *one = &items[dynsel_slot_number(slot)];
    const item *before = one->after != 0 ? &items[dynsel_slot_number_in(one->after - 1)] : NULL;
    expect(one->token == slot->work.token && !one->ended);
    expect(before == NULL || before->token != one->after - 1 || before->ended);
    one->ended = true;
    pthread_mutex_unlock(&lock);
}

static void leave(const dynsel_policy *left)
{
    expect(left == &policy.policy);
}

static bool hold_nothing(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static const dynsel_pending_ops pending_ops = {.progress = progress,
                                               .find_dependency = dependency,
                                               .ended = note_end,
                                               .holds = hold_nothing,
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
                                               .is_withdrawn = hold_nothing,
#endif
                                               .leave = leave};

static dynsel_slot *claim(void)
{
    dynsel_slot *slot = NULL;
    while (dynsel_pending_claim(&policy.policy, &forever, &slot) == DYNSEL_E_FULL) {
        sched_yield(); /* others are about to collect */
    }
    return slot;
}

/* Returns its token. after: that of what it comes after, + 1; or 0. */
static uint32_t accept(dynsel_submission *submission, uint32_t after)
{
    dynsel_slot *slot = claim();
    const dynsel_request request = {.options = &forever, .policy = &policy.policy, .task = &task};
    const uint32_t token = slot->work.token;
    expect(dynsel_pending_choose(&request, slot) == DYNSEL_OK);
    pthread_mutex_lock(&lock);
    item *one = &items[dynsel_slot_number_in(token)];
    *one = (item){.token = token, .index = slot->selection.index, .after = after};
    const bool starts = may_start(one);
    one->waits = !starts;
    dynsel_pending_publish(slot, submission != NULL ? DYNSEL_SLOT_HANDLE : 0,
                           starts ? DYNSEL_INITIAL_STARTING : DYNSEL_INITIAL_WAITING);
    pthread_mutex_unlock(&lock);
    if (starts) {
        start(one, slot);
    }
    if (submission != NULL) {
        dynsel_pending_publish_handle(slot, submission);
    }
    atomic_fetch_add(&accepted, 1);
    return token;
}

static dynsel_status wait_for_a_moment(dynsel_submission *submission)
{
    const dynsel_status status = dynsel_wait_for(submission, 20000);
    return status == DYNSEL_E_TIMEOUT ? dynsel_wait(submission) : status;
}

static void *accept_and_collect(void *seed)
{
    test_random random = {.state = *(const uint64_t *)seed};
    uint32_t newest = 0;
    for (unsigned i = 0; i < PER_THREAD; i++) {
        dynsel_submission submission;
        const uint32_t kind = test_random_below(&random, 8);
        const uint32_t after = test_random_below(&random, 3) != 0 ? newest : 0;
        newest = accept(kind < 2 ? NULL : &submission, after) + 1;
        if (kind == 2) {
            dynsel_event done;
            expect(dynsel_submission_unwrap(&submission, &done) == DYNSEL_OK);
            expect(dynsel_submission_release(&submission) == DYNSEL_OK);
        } else if (kind > 2) {
            expect((kind == 3 ? wait_for_a_moment : dynsel_wait)(&submission) == DYNSEL_OK);
        } else if (test_random_below(&random, 16) == 0) {
            expect(dynsel_wait_group(dynsel_get_submission_group(&policy.policy)) == DYNSEL_OK);
            expect(dynsel_stage_of(newest - 1) == DYNSEL_STAGE_OVER);
        }
    }
    return NULL;
}

/* The device: its queues end work in order, and now and then one is full, or lost for a while. */
static void *be_the_device(void *seed)
{
    test_random random = {.state = *(const uint64_t *)seed};
    unsigned next = 0;
    while (!atomic_load(&stop) || next < atomic_load(&manual.event_count)) {
        if (test_random_below(&random, 64) == 0) {
            manual_queue *queue = &manual.queues[test_random_below(&random, QUEUES)];
            atomic_store(&queue->is_full, !atomic_load(&stop) && !atomic_load(&queue->is_full));
        }
        if (QUEUES > 1 && test_random_below(&random, 256) == 0) {
            const bool refuses = !atomic_load(&stop) && !atomic_load(&manual.queues[1].refuses);
            atomic_store(&manual.queues[1].refuses, refuses);
            const dynsel_status status = dynsel_resource_reinstate(&policy.policy, 1);
            expect(status == DYNSEL_OK || status == DYNSEL_E_INVALID); /* it was in service */
        }
        manual_state expected = MANUAL_RUNNING;
        if (next < atomic_load(&manual.event_count) &&
            atomic_load(&manual.events[next].state) != MANUAL_UNUSED) {
            atomic_compare_exchange_strong(&manual.events[next].state, &expected, MANUAL_COMPLETE);
            next++;
        } else {
            dynsel_progress();
            sched_yield();
        }
    }
    return NULL;
}

static void run_threads(void)
{
    test_random random = {.state = test_seed()};
    pthread_t threads[THREADS + 1];
    uint64_t seeds[THREADS + 1];
    for (unsigned i = 0; i <= THREADS; i++) {
        seeds[i] = (uint64_t)test_random_next(&random) << 32 | i;
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i < THREADS ? accept_and_collect : be_the_device,
                                        &seeds[i]),
                         0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(threads[THREADS], NULL), 0);
}

static void pending_work_of_threads_runs_once_in_order(void **state)
{
    for (int kind = 0; kind < 2; kind++) {
        manual_backend_reset(&manual, kind != 0);
        atomic_store(&manual.wait_completes, false);
        atomic_store(&accepted, 0);
        atomic_store(&ended, 0);
        atomic_store(&stop, false);
        dynsel_pending_register(&pending_ops);
        dynsel_resource resources[QUEUES];
        for (unsigned i = 0; i < QUEUES; i++) {
            resources[i] = manual_resource(&manual, i);
        }
        const dynsel_options options = {.resources = resources, .count = QUEUES};
        assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
        run_threads();
        assert_int_equal(atomic_load(&mistakes), 0);
        assert_int_equal(atomic_load(&accepted), THREADS * PER_THREAD);
        assert_int_equal(atomic_load(&ended), THREADS * PER_THREAD);
        assert_int_equal(atomic_load(&manual.starts), THREADS * PER_THREAD);
        assert_true(dynsel_invariants_hold(&policy.policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
        assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
        manual_assert_clean(&manual);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pending_work_of_threads_runs_once_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
