/* SPDX-License-Identifier: Apache-2.0 */
/* A resource hangs with a command group: the others go on, and its own work ends. With a clock of
 * the test's own. */
#include <dynsel/dynsel.h>

#include "groups/two_numbers.h"
#include "room.h"

static const uint64_t LIMIT = 1000;
static const uint64_t GRACE = (uint64_t)CONFIG_DYNSEL_GIVE_UP_AFTER_MS * 1000000;

static uint64_t time_ns;
static uint64_t step_ns; /* how much later it is at the next look */

/* Instead of the port's. */
uint64_t dynsel_now_ns(void)
{
    time_ns += step_ns;
    return time_ns;
}

static dynsel_round_robin_policy both;

/* Over the first two queues; the next group is for the first. */
static int begin_both(void **state)
{
    time_ns = 1;
    step_ns = 0;
    (void)set_up(state);
    atomic_store(&manual.wait_completes, false);
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    both = (dynsel_round_robin_policy){0};
    return dynsel_round_robin_init(&both, &(dynsel_options){.resources = resources, .count = 2}, 0);
}

static int end_both(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&both.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&both.policy));
    if (a.token != 0) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
    return 0;
}

static void submit(job *what, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&both.policy, group_of, what, submission));
}

static void assert_ran_on(unsigned queue, const job *what)
{
    assert_runs(1, what);
    assert_ptr_equal(&manual.queues[queue], manual.events[what->event].queue);
}

static void look(uint64_t at_ns)
{
    time_ns = at_ns;
    dynsel_progress();
}

static void pending_group_of_a_suspect_resource_runs_elsewhere(void **state)
{
    (void)state;
    job before = CHANGES(1, a);
    job hangs = CHANGES(2, b);
    job other = {.number = 3};
    job moved = CHANGES(4, a);
    hangs.limit_ns = LIMIT;
    dynsel_submission submissions[3];
    send(2, &before, NULL);
    submit(&hangs, &submissions[0]);
    assert_ran_on(0, &hangs);
    submit(&other, &submissions[1]); /* for the second, behind the first */
    submit(&moved, &submissions[2]);
    assert_int_equal(0, submissions[2].index);
    look(LIMIT + 1);
    complete(&before);
    look(time_ns);
    assert_ran_on(1, &moved);
    complete(&moved);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    complete(&hangs); /* late */
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_ran_on(1, &other);
    complete(&other);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
}

static void dependents_of_a_given_up_group_fail_and_others_go_on(void **state)
{
    (void)state;
    job hangs = CHANGES(1, a);
    job dependent = READS(2, a);
    job other = CHANGES(3, b);
    hangs.limit_ns = LIMIT;
    dynsel_submission submissions[3];
    submit(&hangs, &submissions[0]);
    submit(&dependent, &submissions[1]);
    send(2, &other, &submissions[2]);
    look(LIMIT + GRACE + 1);
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_error_says("given up");
    assert_runs(0, &dependent);
    complete(&other);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
    assert_error_says("given up");
    assert_int_equal(worked_in(8, 3), numbers[1]);
}

/* The resource works in the host's memory, so it may do that for ever. */
static void assert_may_be_used(dynsel_buffer *buffer)
{
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(buffer));
    assert_error_says("may still use its memory");
    assert_int_equal(0, buffer->token);
}

static void give_up(job *hangs)
{
    dynsel_submission submission;
    submit(hangs, &submission);
    assert_runs(1, hangs);
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&both.policy, submission.index));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
}

static void buffer_that_hanging_work_only_reads_is_told_at_its_end(void **state)
{
    (void)state;
    job hangs = COPIES(1, a, b);
    give_up(&hangs);
    assert_may_be_used(&a);
    assert_may_be_used(&b);
    b = new_number(&numbers[1]); /* a new one at the same place is another one */
}

/* Also where the contents are known again. */
static void buffer_that_was_written_anew_is_told_at_its_end(void **state)
{
    (void)state;
    job hangs = CHANGES(1, a);
    give_up(&hangs);
    job anew = SETS(2, a);
    send(2, &anew, NULL);
    complete(&anew);
    queues_wait();
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ));
    assert_int_equal(worked_in(0, 2), *(const uint32_t *)accessor.data);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    assert_may_be_used(&a);
}

static void buffers_of_other_work_are_not_told(void **state)
{
    (void)state;
    uint32_t third = 9;
    dynsel_buffer c = new_number(&third);
    job before = READS(1, c);
    job hangs = CHANGES(2, a);
    job dependent = COPIES(3, a, b); /* does not begin */
    dynsel_submission submissions[3];
    submit(&before, &submissions[0]);
    submit(&hangs, &submissions[1]);
    submit(&dependent, &submissions[2]);
    complete(&before);
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&both.policy, submissions[1].index));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_runs(0, &dependent);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&c));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_may_be_used(&a);
    b = new_number(&numbers[1]);
}

/* Started behind it, so in the hands of the resource, too. */
static void buffers_of_work_behind_it_are_told(void **state)
{
    (void)state;
    job hangs = CHANGES(1, a);
    job behind = READS(2, b);
    job other = {.number = 3};
    dynsel_submission submissions[3];
    submit(&hangs, &submissions[0]);
    submit(&other, &submissions[2]);
    submit(&behind, &submissions[1]);
    assert_ran_on(0, &behind);
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&both.policy, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submissions[0]));
    complete(&other);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_may_be_used(&a);
    assert_may_be_used(&b);
    b = new_number(&numbers[1]);
}

#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64
static dynsel_status do_nothing_in_kernel(const dynsel_launch *launch)
{
    (void)launch;
    return DYNSEL_OK;
}

static dynsel_status record_pointer(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "nothing", .function = do_nothing_in_kernel};
    (void)dynsel_set_arg_pointer(handler, 0, args);
    return dynsel_single_task(handler, &kernel);
}

static void free_all(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_free(blocks[i]));
    }
}

static void assert_not_used_again(const void *memory, const dynsel_resource *where)
{
    void *blocks[CONFIG_DYNSEL_SVM_BLOCKS];
    size_t count = 0;
    while (count < CONFIG_DYNSEL_SVM_BLOCKS &&
           dynsel_svm_alloc(where, 1, 1, &blocks[count]) == DYNSEL_OK) {
        assert_ptr_not_equal(memory, blocks[count]);
        count++;
    }
    assert_in_range(count, 1, CONFIG_DYNSEL_SVM_BLOCKS - 1);
    free_all(blocks, count);
}
#endif

static void shared_memory_of_hanging_work_is_kept(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64
    const dynsel_resource where = manual_resource(&manual, 0);
    void *blocks[2] = {NULL};
    dynsel_submission submission;
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_alloc(&where, 1, 1, &blocks[i]));
    }
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&both.policy, record_pointer, blocks[0],
                                                         &submission));
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&both.policy, submission.index));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_svm_map(blocks[0], DYNSEL_ACCESS_READ));
    assert_error_says("may still use the block");
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_svm_unmap(blocks[0]));
    assert_status(DYNSEL_OK, dynsel_svm_map(blocks[1], DYNSEL_ACCESS_READ));
    free_all(blocks, 2);
    assert_status(DYNSEL_E_INVALID, dynsel_svm_free(blocks[0]));
    assert_not_used_again(blocks[0], &where);
#else
    skip();
#endif
}

static void *host_memory_of(dynsel_buffer buffer)
{
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, buffer, DYNSEL_ACCESS_READ));
    void *const memory = accessor.data;
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    return memory;
}

static void memory_inside_the_library_is_not_used_again(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_BUFFER_INSIDE_BYTES >= sizeof(uint32_t));
    dynsel_buffer made[CONFIG_DYNSEL_MAX_BUFFERS] = {{0}};
    size_t count = 0;
    dynsel_buffer inside = new_number(NULL);
    const void *const memory = host_memory_of(inside);
    job hangs = READS(1, inside);
    give_up(&hangs);
    dynsel_buffer old = inside;
    assert_may_be_used(&inside);
    assert_status(DYNSEL_E_STALE, dynsel_buffer_deinit(&old));
    while (count < CONFIG_DYNSEL_MAX_BUFFERS &&
           dynsel_buffer_init(&made[count], NULL, sizeof(uint32_t), DYNSEL_RANGE(1)) == DYNSEL_OK) {
        assert_ptr_not_equal(memory, host_memory_of(made[count]));
        count++;
    }
    assert_int_equal(CONFIG_DYNSEL_MAX_BUFFERS - 3, count);
    for (size_t i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made[i]));
    }
}

static void wait_without_a_deadline_ends(void **state)
{
    (void)state;
    job hangs = CHANGES(1, a);
    hangs.limit_ns = LIMIT;
    dynsel_submission submission;
    submit(&hangs, &submission);
    step_ns = GRACE / 64 + 1;
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
}

static void host_accessor_behind_work_that_hangs_fails(void **state)
{
    (void)state;
    job hangs = CHANGES(1, a);
    hangs.limit_ns = LIMIT;
    submit(&hangs, NULL);
    step_ns = GRACE / 64 + 1;
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait_group(dynsel_get_submission_group(&both.policy)));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
}

static void group_that_waits_for_room_leaves_a_suspect_resource(void **state)
{
    (void)state;
    job hangs = CHANGES(1, a);
    job other = {.number = 2};
    job waits = {.number = 3};
    hangs.limit_ns = LIMIT;
    dynsel_submission submissions[3];
    atomic_store(&manual.queues[0].room, 1);
    submit(&hangs, &submissions[0]);
    submit(&other, &submissions[1]);
    submit(&waits, &submissions[2]);
    assert_int_equal(0, submissions[2].index);
    assert_runs(0, &waits);
    look(LIMIT + 1);
    look(time_ns);
    assert_ran_on(1, &waits);
    complete(&other);
    complete(&waits);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    complete(&hangs);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
}

/* The limit does not count while the group waits for its dependency. */
static void limit_counts_from_the_start_of_a_pending_group(void **state)
{
    (void)state;
    job before = CHANGES(1, a);
    job limited = CHANGES(2, a);
    limited.limit_ns = LIMIT;
    dynsel_submission submission;
    send(2, &before, NULL);
    submit(&limited, &submission);
    look(100 * LIMIT);
    complete(&before);
    look(101 * LIMIT);
    assert_ran_on(0, &limited);
    look(102 * LIMIT - 1);
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&both.policy, 0));
    look(102 * LIMIT);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&both.policy, 0));
    complete(&limited);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void limit_is_set_in_group_functions_only(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_set_time_limit(NULL, LIMIT));
}

int main(void)
{
#define HANGING_TEST(name) cmocka_unit_test_setup_teardown(name, begin_both, end_both)
    const struct CMUnitTest tests[] = {
        HANGING_TEST(pending_group_of_a_suspect_resource_runs_elsewhere),
        HANGING_TEST(dependents_of_a_given_up_group_fail_and_others_go_on),
        HANGING_TEST(wait_without_a_deadline_ends),
        HANGING_TEST(host_accessor_behind_work_that_hangs_fails),
        HANGING_TEST(group_that_waits_for_room_leaves_a_suspect_resource),
        HANGING_TEST(limit_counts_from_the_start_of_a_pending_group),
        HANGING_TEST(limit_is_set_in_group_functions_only),
        HANGING_TEST(buffer_that_hanging_work_only_reads_is_told_at_its_end),
        HANGING_TEST(buffer_that_was_written_anew_is_told_at_its_end),
        HANGING_TEST(buffers_of_other_work_are_not_told),
        HANGING_TEST(buffers_of_work_behind_it_are_told),
        HANGING_TEST(shared_memory_of_hanging_work_is_kept),
        HANGING_TEST(memory_inside_the_library_is_not_used_again), /* last: its place is lost */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
