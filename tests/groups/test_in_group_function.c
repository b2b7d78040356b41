/* SPDX-License-Identifier: Apache-2.0 */
/* A group function may submit, but must not wait: calls that would wait are refused, and change
 * nothing.
 */
#include <dynsel/dynsel.h>

#include <string.h>

#include "groups/two_numbers.h"
#include "support/do_nothing.h"

static dynsel_submission before; /* of work that was submitted before, and goes on */
static dynsel_selection chosen;
static unsigned refused;
static dynsel_status (*tries)(void);

static const dynsel_kernel kernel = {.name = "nothing", .function = launch_nothing};

/* One way of waiting each. */

static dynsel_status wait_for_work(void)
{
    return dynsel_wait(&before);
}

static dynsel_status wait_for_a_while(void)
{
    return dynsel_wait_for(&before, 0);
}

static dynsel_status wait_for_policy(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&queues[1].policy));
}

static dynsel_status wait_for_backend(void)
{
    return dynsel_wait_group(dynsel_get_backend_submission_group(&manual.backend));
}

static dynsel_status submit_task(void)
{
    return dynsel_submit_and_wait(&queues[1].policy, &DYNSEL_TASK(do_nothing, NULL));
}

static dynsel_status submit_selection(void)
{
    return dynsel_submit_selection_and_wait(&chosen, &DYNSEL_TASK(do_nothing, NULL));
}

static dynsel_status submit_group(void)
{
    static job another;
    another = (job)READS(9, b);
    return dynsel_submit_command_group_and_wait(&queues[1].policy, group_of, &another);
}

static dynsel_status open_accessor(void)
{
    dynsel_host_accessor accessor = {.data = NULL};
    return dynsel_host_accessor_open(&accessor, b, DYNSEL_ACCESS_READ);
}

static dynsel_status open_accessor_at_once(void)
{
    dynsel_host_accessor accessor = {.data = NULL};
    return dynsel_host_accessor_open_for(&accessor, b, DYNSEL_ACCESS_READ, 0);
}

static dynsel_status end_buffer(void)
{
    return dynsel_buffer_deinit(&b);
}

static dynsel_status prepare(void)
{
    const dynsel_kernel *const kernels[] = {&kernel};
    return dynsel_kernel_prepare(&queues[1].policy, kernels, 1, NULL, NULL);
}

#if CONFIG_DYNSEL_SVM
static dynsel_status map(void)
{
    return dynsel_svm_map(numbers, DYNSEL_ACCESS_READ);
}

static dynsel_status unmap(void)
{
    return dynsel_svm_unmap(numbers);
}
#endif

static dynsel_status try_in_group_function(job *what)
{
    (void)what;
    const dynsel_status status = tries();
    refused += status == DYNSEL_E_IN_TASK ? 1 : 0;
    if (status != DYNSEL_E_IN_TASK) {
        print_message("status %d\n", (int)status);
    } else {
        assert_error_says("a group function must not wait");
    }
    return DYNSEL_OK;
}

static void waiting_calls_in_group_function_are_refused(void **state)
{
    static dynsel_status (*const ways[])(void) = {
        wait_for_work,
        wait_for_a_while,
        wait_for_policy,
        wait_for_backend,
        submit_task,
        submit_selection,
        submit_group,
        open_accessor,
        open_accessor_at_once,
        end_buffer,
        prepare,
#if CONFIG_DYNSEL_SVM
        map,
        unmap,
#endif
#if CONFIG_DYNSEL_PROGRESS_THREAD
        dynsel_progress_thread_stop,
#endif
    };
    enum { WAYS = sizeof ways / sizeof ways[0] };
    (void)state;
    job goes_on = READS(1, a);
    send(1, &goes_on, &before);
    complete(&goes_on); /* so that who waits all the same comes back */
    assert_status(DYNSEL_OK,
                  dynsel_select(&queues[2].policy, &DYNSEL_TASK(do_nothing, NULL), &chosen));
    for (unsigned i = 0; i < WAYS; i++) {
        job asks = READS(2, a);
        asks.groups = try_in_group_function;
        tries = ways[i];
        send(0, &asks, NULL);
        assert_int_equal(i + 1, refused);
        assert_runs(1, &asks);
        complete(&asks);
        dynsel_progress();
    }
    assert_non_null(chosen.policy);
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection_and_wait(&chosen, &DYNSEL_TASK(do_nothing, NULL)));
    assert_status(DYNSEL_OK, dynsel_wait(&before));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
}

static dynsel_status submit_more(job *what)
{
    static job another;
    (void)what;
    another = (job)READS(3, b);
    send(1, &another, NULL);
    dynsel_progress();
    complete(&another);
    return DYNSEL_OK;
}

static void nonwaiting_calls_in_group_function_succeed(void **state)
{
    (void)state;
    job asks = READS(2, a);
    asks.groups = submit_more;
    send(0, &asks, NULL);
    complete(&asks);
    for (unsigned i = 0; i < 2; i++) { /* outside again */
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&queues[i].policy)));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(waiting_calls_in_group_function_are_refused),
        TEST_SET_UP(nonwaiting_calls_in_group_function_succeed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
