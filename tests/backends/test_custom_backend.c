/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guarantees for custom backends: the handles that they get, the times of their calls, and work
 * that completes late and in any order.
 */
#include <dynsel/dynsel.h>

#include "room.h"
#include "test.h"

enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, MOST_EVENTS = SLOTS + 8, NEVER = 1000000 };

/* One end of a resource for the user, the other for the backend. */
typedef struct port {
    const char *name;
    int attached;
} port;

typedef struct event {
    unsigned polls_until_end;
    bool ended;
    bool given_back;
} event;

static port users[] = {{.name = "user's 0"}, {.name = "user's 1"}};
static port owned[] = {{.name = "own 0"}, {.name = "own 1"}};
static event events[MOST_EVENTS];
static unsigned event_count;
static unsigned polls_until_end;   /* of the events to come */
static dynsel_status polls_end_in; /* told without details */
static dynsel_backend slow;
static dynsel_policy policy;
static uint32_t next_index;

static void *own_port(void *handle)
{
    return handle == &users[0] ? &owned[0] : &owned[1];
}

static void check(const dynsel_work *work)
{
    assert_ptr_equal(work->where->backend, &slow);
    assert_ptr_equal(work->own, own_port(work->where->handle));
}

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    assert_ptr_equal(backend, &slow);
    ((port *)own)->attached++;
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    assert_ptr_equal(backend, &slow);
    ((port *)own)->attached--;
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    return handle == NULL ? NULL : ((const port *)handle)->name;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    assert_ptr_equal(backend, &slow);
    check(work);
    assert_null(work->done.native);
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    event *e = work->done.native;
    assert_ptr_equal(backend, &slow);
    check(work);
    assert_false(e->given_back);
    if (!e->ended && e->polls_until_end > 0) {
        e->polls_until_end--;
        return DYNSEL_E_AGAIN;
    }
    e->ended = true;
    return polls_end_in;
}

/* Ends no other work: this resource is not in order. */
static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    event *e = work->done.native;
    assert_ptr_equal(backend, &slow);
    check(work);
    assert_false(e->given_back);
    e->ended = true;
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    event *e = work->done.native;
    assert_ptr_equal(backend, &slow);
    check(work);
    assert_true(e->ended);
    assert_false(e->given_back);
    e->given_back = true;
}

#define SLOW_OPS(synchronizes)                                                                     \
    {                                                                                              \
        .name = "slow", .outlives_submit = true, .poll_synchronizes = (synchronizes),              \
        .resource_name = resource_name, .attach = attach, .detach = detach, .start = start,        \
        .poll = poll, .wait = wait, .release = release                                             \
    }

static const dynsel_backend_ops synchronizing_ops = SLOW_OPS(true);
static const dynsel_backend_ops polling_ops = SLOW_OPS(false);

static dynsel_status choose_next_index(dynsel_policy *base, const dynsel_task *task,
                                       dynsel_selection *selection)
{
    (void)task;
    selection->index = next_index % base->count;
    return DYNSEL_OK;
}

static int set_up_with(const dynsel_backend_ops *ops)
{
    static const dynsel_policy_ops policy_ops = {.name = "next", .try_select = choose_next_index};
    slow.ops = ops;
    event_count = 0;
    polls_until_end = 0;
    polls_end_in = DYNSEL_OK;
    next_index = 0;
    const dynsel_resource resources[] = {{&slow, &users[0]}, {&slow, &users[1]}};
    const dynsel_options options = {
        .resources = resources, .count = RESOURCES_UP_TO(2), .adapt = own_port};
    return dynsel_policy_init(&policy, &policy_ops, &options);
}

static int set_up_synchronizing(void **state)
{
    (void)state;
    return set_up_with(&synchronizing_ops);
}

static int set_up_polling(void **state)
{
    (void)state;
    return set_up_with(&polling_ops);
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    for (unsigned i = 0; i < event_count; i++) {
        assert_true(events[i].given_back);
    }
    assert_int_equal(owned[0].attached, 0);
    assert_int_equal(owned[1].attached, 0);
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    assert_true(args == NULL || where->handle == args);
    assert_true(event_count < MOST_EVENTS);
    events[event_count] = (event){.polls_until_end = polls_until_end};
    done->native = &events[event_count++];
    return DYNSEL_OK;
}

static dynsel_status submit(dynsel_submission *submission)
{
    return dynsel_submit(&policy, &DYNSEL_TASK(enqueue, NULL), submission);
}

static dynsel_submission_group group(void)
{
    return dynsel_get_submission_group(&policy);
}

static void backend_gets_its_handles_and_task_gets_those_of_user(void **state)
{
    (void)state;
    for (next_index = 0; next_index < RESOURCES_UP_TO(2); next_index++) {
        const dynsel_task task = DYNSEL_TASK(enqueue, &users[next_index]);
        assert_int_equal(owned[next_index].attached, 1);
        assert_int_equal(users[next_index].attached, 0);
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
        assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
        assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    }
}

/* Reaped by polling, so that only the events are left for the group to wait for. */
static void polled_results_are_waited_for_with_matching_handle(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission last;
    assert_status(DYNSEL_OK, submit(NULL));
    assert_status(DYNSEL_OK, submit(NULL));
    polls_until_end = NEVER;
    next_index = 1;
    assert_status(DYNSEL_OK, submit(&last));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy));
    assert_true(events[0].ended && events[1].ended);
    assert_status(DYNSEL_OK, dynsel_wait(&last));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void submit_with_full_table_waits_for_slot(void **state)
{
    (void)state;
    dynsel_submission collected_later[SLOTS];
    for (unsigned i = 0; i + 1 < SLOTS; i++) {
        assert_status(DYNSEL_OK, submit(&collected_later[i]));
    }
    polls_until_end = 5;
    assert_status(DYNSEL_OK, submit(NULL));
    assert_status(DYNSEL_E_FULL, dynsel_try_submit(&policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_number(SLOTS - 1);
    assert_status(DYNSEL_OK, submit(NULL));
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&policy, &DYNSEL_TASK(enqueue, NULL), &selection));
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &DYNSEL_TASK(enqueue, NULL)));
    for (unsigned i = 0; i + 1 < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&collected_later[i]));
    }
}

static void group_wait_covers_work_completing_out_of_order(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    for (unsigned round = 0; round < 2; round++) {
        polls_until_end = NEVER;
        assert_status(DYNSEL_OK, submit(NULL));
        assert_status(DYNSEL_OK, submit(NULL));
        polls_until_end = 0;
        assert_status(DYNSEL_OK, submit(NULL));
        assert_status(DYNSEL_OK, dynsel_wait_group(group()));
        for (unsigned i = 0; i < event_count; i++) {
            assert_true(events[i].ended && events[i].given_back);
        }
    }
}

static void failure_without_details_ignores_details_of_older_failure(void **state)
{
    (void)state;
    dynsel_submission submission;
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE, .code = 99});
    assert_status(DYNSEL_OK, submit(&submission));
    polls_end_in = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy));
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE, .code = 99});
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_error_code(0);
}

static void errors_name_their_resource(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0);
    const uint32_t last = RESOURCES_UP_TO(2) - 1;
    polls_end_in = DYNSEL_E_DEVICE;
    next_index = last;
    for (int i = 0; i < CONFIG_DYNSEL_MAX_FAILURES; i++) {
        dynsel_submission submission;
        event_count = 0;
        assert_status(DYNSEL_OK, submit(&submission));
        assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy));
        assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy, last));
    assert_error_says(users[last].name);
    assert_string_equal(dynsel_resource_name(&(dynsel_resource){&slow, NULL}), "slow");
}

int main(void)
{
#define BOTH(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, set_up_synchronizing, tear_down),                        \
        cmocka_unit_test_setup_teardown(name, set_up_polling, tear_down)
    const struct CMUnitTest tests[] = {
        BOTH(backend_gets_its_handles_and_task_gets_those_of_user),
        BOTH(polled_results_are_waited_for_with_matching_handle),
        BOTH(submit_with_full_table_waits_for_slot),
        BOTH(group_wait_covers_work_completing_out_of_order),
        BOTH(failure_without_details_ignores_details_of_older_failure),
        BOTH(errors_name_their_resource),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
