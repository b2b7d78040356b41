/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of pending work: a policy whose choice the test sets, over the manual backend, and
 * operations whose work waits until the test releases it.
 */
#ifndef DYNSEL_TESTS_CORE_PENDING_H
#define DYNSEL_TESTS_CORE_PENDING_H

#include <dynsel/dynsel.h>

#include <string.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "submission/pending.h"
#include "test.h"

enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, QUEUES = RESOURCES_UP_TO(2) };

static manual_backend manual;

/* The policy chooses as it is told, and counts what it hears. */

static struct world {
    dynsel_policy policy;
    uint32_t choice;
    unsigned busy; /* how often it has nothing free */
    bool insists;  /* it chooses what the task has no form for, and counts it at once */
    unsigned told_submissions, told_withdrawals, told_ends;
} world;

static inline dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                       dynsel_selection *selection)
{
    if (world.busy > 0) {
        world.busy--;
        return DYNSEL_E_AGAIN;
    }
    if (world.insists) {
        world.told_submissions++;
        selection->reported = DYNSEL_TASK_SUBMISSION;
        return DYNSEL_OK;
    }
    for (uint32_t i = 0; i < policy->count; i++) {
        selection->index = (world.choice + i) % policy->count;
        if (dynsel_policy_may_use(policy, selection->index, task)) {
            selection->reason = DYNSEL_REASON_TURN;
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(policy, task);
}

static inline void report(dynsel_policy *policy, const dynsel_selection *selection,
                          dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    world.told_submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    world.told_withdrawals += info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
    world.told_ends += info == DYNSEL_TASK_COMPLETION ? 1 : 0;
}

static const dynsel_policy_ops policy_ops = {
    .name = "counting",
    .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
    .try_select = try_select,
    .report = report,
};

/* The operations: each slot waits until the test marks it as ready or failing, or until its
 * dependency is over. */

typedef struct item {
    bool waits;
    bool ready;
    bool will_fail;
    bool blocked_by_caller;
    bool turns_bad; /* its end is to become a failure */
    bool has_dependency;
    uint32_t dependency;
    dynsel_task task;
} item;

static item items[SLOTS + 1];
static uint32_t ended[4 * SLOTS]; /* tokens in the order in which their work ended */
static unsigned ended_count, progress_calls;

static inline item *item_of(const dynsel_slot *slot)
{
    return &items[dynsel_slot_number(slot)];
}

static const dynsel_submit_options forever = {.function = "test",
                                              .deadline_ns = DYNSEL_WAIT_FOREVER};

static const dynsel_error dependency_failure = {
    .status = DYNSEL_E_DEPENDENCY, .code = 17, .detail = "doomed"};

/* What one attempt to start it leads to. */
static inline void start(dynsel_slot *slot)
{
    item *one = item_of(slot);
    dynsel_status status = dynsel_pending_start(slot);
    const dynsel_request request = {
        .options = &forever, .policy = &world.policy, .task = &one->task};
    while (status == DYNSEL_E_OUT_OF_SERVICE) {
        status = dynsel_pending_choose_again(&request, slot);
        status = status == DYNSEL_OK ? dynsel_pending_start(slot) : DYNSEL_E_DEVICE;
    }
    if (status == DYNSEL_E_AGAIN) {
        dynsel_pending_put_back(slot);
        one->waits = true;
    } else if (status != DYNSEL_OK) {
        dynsel_pending_fail(slot, dynsel_last_error());
    }
}

static inline bool progress(void)
{
    bool waits = false;
    progress_calls++;
    for (uint32_t number = 1; number <= SLOTS; number++) {
        item *one = &items[number];
        const bool freed =
            one->has_dependency && dynsel_stage_of(one->dependency) == DYNSEL_STAGE_OVER;
        if (!one->waits || (!one->ready && !one->will_fail && !freed)) {
            waits = waits || one->waits;
            continue;
        }
        one->waits = false;
        dynsel_pending_take(dynsel_slot_at(number));
        if (one->will_fail) {
            dynsel_pending_fail(dynsel_slot_at(number), &dependency_failure);
        } else {
            start(dynsel_slot_at(number));
        }
        waits = waits || one->waits;
    }
    return waits;
}

static inline dynsel_status dependency(const dynsel_slot *slot, uint32_t *token)
{
    const item *one = item_of(slot);
    if (one->blocked_by_caller) {
        return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_BUSY, .detail = "your own"});
    }
    *token = one->dependency;
    return one->has_dependency ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

static inline void note_end(dynsel_slot *slot)
{
    /* nothing is to follow what has no place in a queue */
    const uint32_t word = dynsel_word_load_relaxed(&slot->word);
    assert_int_equal(dynsel_stage_of(slot->work.token), (word & DYNSEL_SLOT_LISTED) != 0
                                                            ? DYNSEL_STAGE_STARTED
                                                            : DYNSEL_STAGE_ACCEPTED);
    assert_in_range(ended_count, 0, 4 * SLOTS - 1);
    ended[ended_count++] = slot->work.token;
    if (item_of(slot)->turns_bad && slot->work.error.status == DYNSEL_OK) {
        slot->work.error = dependency_failure;
    }
}

static inline void leave(const dynsel_policy *policy)
{
    assert_ptr_equal(policy, &world.policy);
}

static inline bool hold_nothing(const dynsel_slot *slot)
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

/* Around each test. */

static inline int set_up_with(bool poll_synchronizes)
{
    memset(&world, 0, sizeof world);
    memset(items, 0, sizeof items);
    ended_count = progress_calls = 0;
    manual_backend_reset(&manual, poll_synchronizes);
    dynsel_pending_register(&pending_ops);
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    const dynsel_options options = {.resources = resources, .count = QUEUES};
    return dynsel_policy_init(&world.policy, &policy_ops, &options);
}

static inline int set_up(void **state)
{
    (void)state;
    return set_up_with(false);
}

static inline int set_up_synchronizing(void **state)
{
    (void)state;
    return set_up_with(true);
}

/* Everything was given back, and the policy heard of every end. */
static inline int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&world.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&world.policy));
    assert_int_equal(world.told_submissions, world.told_withdrawals + world.told_ends);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    manual_assert_clean(&manual);
    return 0;
}

static inline dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    done->native = manual_event_new(&manual, where);
    return args != NULL ? *(const dynsel_status *)args : DYNSEL_OK;
}

static inline dynsel_slot *choose(const dynsel_task *task)
{
    dynsel_slot *slot = NULL;
    const dynsel_request request = {.options = &forever, .policy = &world.policy, .task = task};
    assert_status(DYNSEL_OK, dynsel_pending_claim(&world.policy, &forever, &slot));
    assert_status(DYNSEL_OK, dynsel_pending_choose(&request, slot));
    *item_of(slot) = (item){.task = *task};
    return slot;
}

/* Accepts a task that waits; submission: NULL where nobody will ask. */
static inline item *defer(const dynsel_task *task, dynsel_submission *submission)
{
    dynsel_slot *slot = choose(task);
    item_of(slot)->waits = true;
    dynsel_pending_publish(slot, submission != NULL ? DYNSEL_SLOT_HANDLE : 0,
                           DYNSEL_INITIAL_WAITING);
    if (submission != NULL) {
        dynsel_pending_publish_handle(slot, submission);
    }
    return item_of(slot);
}

static inline item *defer_work(dynsel_submission *submission)
{
    return defer(&DYNSEL_TASK(enqueue, NULL), submission);
}

static inline uint32_t token_of(const item *one)
{
    return dynsel_slot_at((uint32_t)(one - items))->work.token;
}

/* Accepts work and starts it in the same call. Returns its token. */
static inline uint32_t start_work(dynsel_submission *submission)
{
    dynsel_slot *slot = choose(&DYNSEL_TASK(enqueue, NULL));
    const uint32_t token = slot->work.token;
    dynsel_pending_publish(slot, submission != NULL ? DYNSEL_SLOT_HANDLE : 0,
                           DYNSEL_INITIAL_STARTING);
    assert_int_equal(dynsel_stage_of(token), DYNSEL_STAGE_ACCEPTED);
    start(slot);
    if (submission != NULL) {
        dynsel_pending_publish_handle(slot, submission);
    }
    return token;
}

static inline dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&world.policy));
}

static inline dynsel_resource_statistics counts_of(size_t index)
{
    dynsel_resource_statistics counts = {0};
    const dynsel_status status = dynsel_get_statistics(&world.policy, index, &counts);
    assert_true(status == DYNSEL_OK || !CONFIG_DYNSEL_STATISTICS);
    return counts;
}

#define BOTH(test)                                                                                 \
    TEST(test), cmocka_unit_test_setup_teardown(test, set_up_synchronizing, tear_down)

#endif
