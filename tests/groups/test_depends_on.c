/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups behind submissions that their group functions name. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "port/thread.h"

/* Last: its short names would hide parameters of the header above. */
#include "groups/two_numbers.h"

enum { MOST = CONFIG_DYNSEL_MAX_DEPENDENCIES + 1 };

/* A job, and what it depends on. */
typedef struct follower {
    job what;
    const dynsel_submission *behind[MOST];
    unsigned count;
    dynsel_status status; /* of dynsel_depends_on(); the last */
} follower;

static dynsel_status follow(dynsel_handler *handler, void *args)
{
    follower *const it = args;
    for (unsigned i = 0; i < it->count; i++) {
        it->status = dynsel_depends_on(handler, it->behind[i]);
    }
    return group_of(handler, &it->what);
}

static void send_behind(unsigned queue, follower *it, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&queues[queue].policy, follow, it, submission));
}

#define BEHIND(number_, ...)                                                                       \
    {                                                                                              \
        .what = {.number = (number_)}, .behind = {__VA_ARGS__},                                    \
        .count = sizeof((const dynsel_submission *[]){__VA_ARGS__}) / sizeof(void *)               \
    }

static int set_up_in_order(void **state)
{
    (void)state;
    begin(true);
    return 0;
}

static void end(void)
{
    queues_wait();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
}

static void collect(dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, dynsel_wait(submission));
}

static void command_group_starts_after_end_of_those_it_names(void **state)
{
    (void)state;
    job first = {.number = 1};
    job second = {.number = 2};
    dynsel_submission submissions[3];
    send(0, &first, &submissions[0]);
    send(1, &second, &submissions[1]);
    follower last = BEHIND(3, &submissions[0], &submissions[1]);
    send_behind(2, &last, &submissions[2]);
    assert_status(DYNSEL_OK, last.status);
    dynsel_progress();
    assert_runs(0, &last.what);
    complete(&second);
    dynsel_progress();
    assert_runs(0, &last.what);
    complete(&first);
    dynsel_progress();
    assert_runs(1, &last.what);
    assert_int_equal(3, last.what.turn);
    complete(&last.what);
    for (int i = 0; i < 3; i++) {
        collect(&submissions[i]);
    }
    end();
}

/* The wait for the last one waits for, and starts, those before. */
static void wait_for_follower_waits_for_those_before(void **state)
{
    (void)state;
    atomic_store(&manual.wait_completes, true);
    job first = {.number = 1};
    dynsel_submission submissions[3];
    send(0, &first, &submissions[0]);
    follower second = BEHIND(2, &submissions[0]);
    send_behind(1, &second, &submissions[1]);
    follower third = BEHIND(3, &submissions[1]);
    send_behind(2, &third, &submissions[2]);
    collect(&submissions[2]);
    assert_int_equal(1, first.turn);
    assert_int_equal(2, second.what.turn);
    assert_int_equal(3, third.what.turn);
    collect(&submissions[1]);
    collect(&submissions[0]);
    end();
}

static void follower_in_same_queue_is_started_at_once(void **state)
{
    (void)state;
    job first = {.number = 1};
    dynsel_submission submissions[2];
    send(0, &first, &submissions[0]);
    follower second = BEHIND(2, &submissions[0]);
    send_behind(0, &second, &submissions[1]);
    assert_runs(1, &second.what);
    complete(&first);
    complete(&second.what);
    collect(&submissions[1]);
    collect(&submissions[0]);
    end();
}

static void complete_or_collected_submission_holds_nothing_up(void **state)
{
    (void)state;
    job jobs[] = {{.number = 1}, {.number = 2}};
    dynsel_submission submissions[2];
    for (unsigned i = 0; i < 2; i++) {
        send(i, &jobs[i], &submissions[i]);
        complete(&jobs[i]);
    }
    collect(&submissions[0]);
    dynsel_progress();
    follower last = BEHIND(3, &submissions[0], &submissions[1], &submissions[1]);
    send_behind(2, &last, NULL);
    assert_status(DYNSEL_OK, last.status);
    assert_runs(1, &last.what);
    complete(&last.what);
    collect(&submissions[1]);
    end();
}

static void expect_cause(dynsel_submission *submission, const char *cause)
{
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(submission));
    assert_error_says("depends on work that failed");
    assert_error_says(cause);
}

/* Known before the submit, while the command group waits, and by a chain. */
static void failure_reaches_followers_with_first_cause(void **state)
{
    (void)state;
    job early = {.number = 1, .returns = (dynsel_status)(DYNSEL_E_USER - 4)};
    job late = {.number = 2};
    dynsel_submission submissions[5];
    send(0, &early, &submissions[0]);
    complete(&early);
    dynsel_progress();
    send(1, &late, &submissions[1]);
    follower behind_early = BEHIND(3, &submissions[0]);
    follower behind_late = BEHIND(4, &submissions[1]);
    send_behind(2, &behind_early, &submissions[2]);
    send_behind(2, &behind_late, &submissions[3]);
    follower chained = BEHIND(5, &submissions[3]);
    send_behind(3, &chained, &submissions[4]);
    break_off(&late);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[1])); /* its slot may be used again */
    job other = {.number = 6};
    send(1, &other, NULL);
    complete(&other);
    expect_cause(&submissions[4], "device");
    expect_cause(&submissions[3], "device");
    expect_cause(&submissions[2], "own status");
    assert_runs(0, &behind_early.what);
    assert_runs(0, &behind_late.what);
    assert_runs(0, &chained.what);
    assert_status(early.returns, dynsel_wait(&submissions[0]));
    end();
}

/* It was started before the failure was known, so what it wrote is lost. */
static void failure_in_same_queue_reaches_follower_that_was_started(void **state)
{
    (void)state;
    job first = {.number = 1};
    dynsel_submission submissions[2];
    send(0, &first, &submissions[0]);
    follower second = {.what = SETS(2, a), .behind = {&submissions[0]}, .count = 1};
    send_behind(0, &second, &submissions[1]);
    assert_runs(1, &second.what);
    break_off(&first);
    complete(&second.what);
    expect_cause(&submissions[1], "device");
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[0]));
    dynsel_host_accessor seen = {.data = NULL};
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&a));
    a = new_number(&numbers[0]);
    end();
}

/* The failure of work that was waited for is the caller's. */
static void collected_failure_fails_no_follower(void **state)
{
    (void)state;
    job first = {.number = 1, .returns = DYNSEL_E_TASK};
    dynsel_submission submission;
    send(0, &first, &submission);
    complete(&first);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    follower second = BEHIND(2, &submission);
    send_behind(1, &second, NULL);
    assert_runs(1, &second.what);
    complete(&second.what);
    end();
}

static void cancelled_work_fails_its_followers(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    job first = CHANGES(1, a);
    job unwanted = CHANGES(2, a);
    dynsel_submission submissions[3];
    send(0, &first, &submissions[0]);
    send(1, &unwanted, &submissions[1]);
    follower last = BEHIND(3, &submissions[1]);
    send_behind(2, &last, &submissions[2]);
    assert_status(DYNSEL_OK, dynsel_cancel(&submissions[1]));
    complete(&first);
    expect_cause(&submissions[2], "cancelled");
    assert_runs(0, &last.what);
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait(&submissions[1]));
    collect(&submissions[0]);
#endif
    end();
}

static dynsel_status refused(dynsel_handler *handler, void *args)
{
    follower *const it = args;
    (void)follow(handler, args);
    return it->status;
}

static dynsel_status submit_refused(follower *it)
{
    const dynsel_status status = dynsel_submit_command_group(&queues[2].policy, refused, it, NULL);
    assert_runs(0, &it->what);
    assert_status(status, it->status);
    return status;
}

static void wrong_submission_is_refused(void **state)
{
    (void)state;
    static const dynsel_submission never;
    job first = {.number = 1};
    dynsel_submission submission;
    send(0, &first, &submission);
    const dynsel_submission copy = submission;
    follower behind_nothing = BEHIND(2, &never);
    follower behind_null = BEHIND(2, NULL);
    assert_status(DYNSEL_E_INVALID, submit_refused(&behind_nothing));
    assert_error_says("never submitted");
    assert_status(DYNSEL_E_INVALID, submit_refused(&behind_null));
    assert_error_says("NULL");
    assert_status(DYNSEL_E_INVALID, dynsel_depends_on(NULL, &submission));
    assert_error_says("running group function");
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    follower behind_released = BEHIND(2, &copy);
    assert_status(DYNSEL_E_STALE, submit_refused(&behind_released));
    assert_error_says("dynsel_depends_on");
    assert_error_says("released");
    complete(&first);
    end();
}

/* In a loop with one handle. */
static void own_handle_stands_for_work_before(void **state)
{
    (void)state;
    dynsel_submission submission = {.policy = NULL};
    follower itself = BEHIND(1, &submission);
    assert_status(DYNSEL_E_INVALID, submit_refused(&itself));
    job first = {.number = 1};
    send(0, &first, &submission);
    follower next = BEHIND(2, &submission);
    dynsel_submission before = submission;
    send_behind(1, &next, &submission);
    assert_runs(0, &next.what);
    complete(&first);
    dynsel_progress();
    assert_runs(1, &next.what);
    complete(&next.what);
    collect(&submission);
    collect(&before);
    end();
}

static void too_many_dependencies_name_their_option(void **state)
{
    (void)state;
    static job jobs[MOST];
    static dynsel_submission submissions[MOST];
    static follower it;
    memset(&it, 0, sizeof it);
    it.count = MOST;
    for (unsigned i = 0; i < MOST; i++) {
        jobs[i] = (job){.number = 1 + i};
        send(0, &jobs[i], &submissions[i]);
        it.behind[i] = &submissions[i];
    }
    assert_status(DYNSEL_E_FULL, submit_refused(&it));
    assert_error_says("CONFIG_DYNSEL_MAX_DEPENDENCIES");
    it.count--;
    send_behind(1, &it, NULL);
    assert_runs(0, &it.what);
    for (unsigned i = 0; i < MOST; i++) {
        complete(&jobs[i]);
        collect(&submissions[i]);
    }
    dynsel_progress();
    assert_runs(1, &it.what);
    complete(&it.what);
    end();
}

/* A full table makes the submit wait for some of what the command group depends on. */
static void submit_waits_for_room_beside_dependencies(void **state)
{
    (void)state;
    static job jobs[MOST];
    static dynsel_submission submissions[MOST];
    static follower it;
    atomic_store(&manual.wait_completes, true);
    it = (follower){.what = CHANGES(1, a), .count = MOST - 1};
    for (unsigned i = 0; i < MOST; i++) {
        jobs[i] = i == 0 ? (job)CHANGES(1, a) : (job){.number = 1 + i};
        send(0, &jobs[i], &submissions[i]);
        it.behind[i == 0 ? 0 : i - 1] = &submissions[i];
    }
    assert_status(DYNSEL_E_FULL,
                  dynsel_try_submit_command_group(&queues[1].policy, follow, &it, NULL));
    assert_error_says("CONFIG_DYNSEL_MAX_DEPENDENCIES");
    send_behind(1, &it, NULL);
    for (unsigned i = 0; i < MOST; i++) {
        collect(&submissions[i]);
    }
    end();
    assert_runs(1, &it.what);
}

/* Tasks */

static dynsel_status task_status;

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const dynsel_status status = manual_enqueue(where, args, done);
    return status == DYNSEL_OK ? task_status : status;
}

static unsigned submit_task(unsigned queue, dynsel_submission *submission)
{
    const unsigned event = atomic_load(&manual.event_count);
    assert_status(DYNSEL_OK,
                  dynsel_submit(&queues[queue].policy, &DYNSEL_TASK(enqueue, NULL), submission));
    return event;
}

/* Also in its own queue: nobody knows how a task is ordered. */
static void command_group_follows_tasks(void **state)
{
    (void)state;
    task_status = DYNSEL_OK;
    for (unsigned queue = 0; queue < 2; queue++) {
        dynsel_submission submissions[3];
        job group = {.number = 1};
        send(2, &group, &submissions[2]);
        const unsigned task = submit_task(0, &submissions[0]);
        const unsigned other = submit_task(3, &submissions[1]);
        follower it = BEHIND(2, &submissions[2], &submissions[1], &submissions[0]);
        send_behind(queue, &it, NULL);
        manual_complete(&manual, other);
        dynsel_progress();
        collect(&submissions[1]);
        complete(&group);
        dynsel_progress();
        assert_runs(0, &it.what);
        manual_complete(&manual, task);
        dynsel_progress();
        dynsel_progress();
        assert_runs(1, &it.what);
        complete(&it.what);
        collect(&submissions[0]);
        collect(&submissions[2]);
    }
    end();
}

static void wait_for_follower_of_task_waits_for_task(void **state)
{
    (void)state;
    task_status = DYNSEL_OK;
    atomic_store(&manual.wait_completes, true);
    dynsel_submission submissions[2];
    (void)submit_task(0, &submissions[0]);
    follower it = BEHIND(2, &submissions[0]);
    send_behind(1, &it, &submissions[1]);
    assert_runs(0, &it.what);
    collect(&submissions[1]);
    collect(&submissions[0]);
    end();
}

/* The task's own status, and that of its event; collected before the command group looks. */
static void failed_task_fails_its_followers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        dynsel_submission submissions[2];
        task_status = i == 0 ? DYNSEL_E_TASK : DYNSEL_OK;
        const unsigned event = submit_task(0, &submissions[0]);
        follower it = BEHIND(2, &submissions[0]);
        send_behind(1, &it, &submissions[1]);
        if (i == 0) {
            manual_complete(&manual, event);
        } else {
            manual_fail(&manual, event);
        }
        assert_status(i == 0 ? DYNSEL_E_TASK : DYNSEL_E_DEVICE, dynsel_wait(&submissions[0]));
        expect_cause(&submissions[1], i == 0 ? "task" : "device");
        assert_runs(0, &it.what);
    }
    task_status = DYNSEL_OK;
    end();
}

/* No slot is free, so tasks get that of the first one, without a look at pending work. */
static void failure_is_not_forgotten_when_slot_fails_again(void **state)
{
    (void)state;
    enum { OTHERS = CONFIG_DYNSEL_MAX_IN_FLIGHT - 2 };
    task_status = DYNSEL_OK;
    dynsel_submission first;
    dynsel_submission submission;
    const unsigned task = submit_task(0, &first);
    follower it = BEHIND(2, &first);
    send_behind(1, &it, &submission);
    assert_status(DYNSEL_OK, dynsel_submission_release(&first));
    const unsigned others = atomic_load(&manual.event_count);
    for (unsigned i = 0; i < OTHERS; i++) {
        (void)submit_task(2, NULL);
    }
    manual_fail(&manual, task);
    manual_fail(&manual, submit_task(0, NULL));
    manual_complete(&manual, submit_task(0, NULL));
    for (unsigned i = 0; i < OTHERS; i++) {
        manual_complete(&manual, others + i);
    }
    dynsel_progress();
    assert_runs(0, &it.what);
    expect_cause(&submission, "device");
    assert_status(DYNSEL_E_DEVICE,
                  dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    end();
}

static dynsel_status fail_at_once(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

/* Complete in its submit: with a slot and, in a policy of the host alone, without. */
static void task_that_failed_at_once_fails_its_followers(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy host;
    const dynsel_resource inside = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &inside, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&host, &options, 0));
    dynsel_policy *const policies[] = {&host.policy, &queues[0].policy};
    for (unsigned i = 0; i < 2; i++) {
        dynsel_submission submissions[2];
        assert_status(DYNSEL_OK, dynsel_submit(policies[i], &DYNSEL_TASK(fail_at_once, NULL),
                                               &submissions[0]));
        follower it = BEHIND(2, &submissions[0]);
        send_behind(1, &it, &submissions[1]);
        expect_cause(&submissions[1], "task");
        assert_runs(0, &it.what);
        assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[0]));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&host.policy));
    end();
}

/* Where polls do not make results visible, a wait of the backend does, before the command group
 * begins. */
static void results_of_polled_work_are_visible_to_follower(void **state)
{
    (void)state;
    static dynsel_backend_ops ops;
    ops = *manual.backend.ops;
    ops.poll_synchronizes = false;
    manual.backend.ops = &ops;
    job first = {.number = 1};
    dynsel_submission submissions[2];
    send(0, &first, &submissions[0]);
    follower second = BEHIND(2, &submissions[0]);
    send_behind(1, &second, &submissions[1]);
    complete(&first);
    for (int i = 0; i < 3; i++) {
        dynsel_progress();
    }
    assert_runs(1, &second.what);
    assert_true(manual_is_synchronized(&manual, first.event));
    complete(&second.what);
    collect(&submissions[1]);
    collect(&submissions[0]);
    end();
}

#if CONFIG_DYNSEL_EXTERNAL_EVENTS
static dynsel_status refuse_to_take(dynsel_external_event *event)
{
    (void)event;
    return DYNSEL_E_DEVICE; /* without details */
}

static dynsel_status never_polled(dynsel_external_event *event)
{
    (void)event;
    return DYNSEL_E_INVALID;
}

static void never_released(dynsel_external_event *event)
{
    (void)event;
    fail();
}

static dynsel_status follow_event(dynsel_handler *handler, void *args)
{
    static const dynsel_external_event_ops ops = {
        .take = refuse_to_take, .poll = never_polled, .release = never_released};
    (void)dynsel_depend_on_external(handler, &ops, (dynsel_event){.native = NULL});
    return group_of(handler, args);
}

/* The group function does not look; the thread's last error is another one, or none. */
static void refused_external_event_fails_submission(void **state)
{
    (void)state;
    job what = {.number = 1};
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_E_INVALID, dynsel_buffer_init(NULL, NULL, 1, DYNSEL_RANGE(1)));
        if (i == 1) {
            dynsel_this_thread()->last_error = (dynsel_kept_error){.status = DYNSEL_OK};
        }
        assert_status(DYNSEL_E_DEVICE,
                      dynsel_submit_command_group(&queues[0].policy, follow_event, &what, NULL));
        assert_status(DYNSEL_E_DEVICE, dynsel_last_error()->status);
        assert_runs(0, &what);
    }
    end();
}
#endif

/* This thread waits for itself. */
static void wait_behind_open_host_accessor_is_busy(void **state)
{
    (void)state;
    dynsel_host_accessor open = {.data = NULL};
    job first = CHANGES(1, a);
    dynsel_submission submissions[2];
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&open, a, DYNSEL_ACCESS_READ));
    send(0, &first, &submissions[0]);
    follower second = BEHIND(2, &submissions[0]);
    send_behind(1, &second, &submissions[1]);
    assert_status(DYNSEL_E_BUSY, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&open));
    dynsel_progress();
    complete(&first);
    dynsel_progress();
    complete(&second.what);
    collect(&submissions[1]);
    collect(&submissions[0]);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(command_group_starts_after_end_of_those_it_names),
        TEST_SET_UP(wait_for_follower_waits_for_those_before),
        cmocka_unit_test_setup(follower_in_same_queue_is_started_at_once, set_up_in_order),
        TEST_SET_UP(complete_or_collected_submission_holds_nothing_up),
        TEST_SET_UP(failure_reaches_followers_with_first_cause),
        cmocka_unit_test_setup(failure_in_same_queue_reaches_follower_that_was_started,
                               set_up_in_order),
        TEST_SET_UP(collected_failure_fails_no_follower),
        TEST_SET_UP(cancelled_work_fails_its_followers),
        TEST_SET_UP(wrong_submission_is_refused),
        TEST_SET_UP(own_handle_stands_for_work_before),
        TEST_SET_UP(too_many_dependencies_name_their_option),
        TEST_SET_UP(submit_waits_for_room_beside_dependencies),
        TEST_SET_UP(command_group_follows_tasks),
        TEST_SET_UP(wait_for_follower_of_task_waits_for_task),
        TEST_SET_UP(failed_task_fails_its_followers),
        TEST_SET_UP(failure_is_not_forgotten_when_slot_fails_again),
        TEST_SET_UP(task_that_failed_at_once_fails_its_followers),
        TEST_SET_UP(results_of_polled_work_are_visible_to_follower),
#if CONFIG_DYNSEL_EXTERNAL_EVENTS
        TEST_SET_UP(refused_external_event_fails_submission),
#endif
        TEST_SET_UP(wait_behind_open_host_accessor_is_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
