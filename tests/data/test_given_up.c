/* SPDX-License-Identifier: Apache-2.0 */
/* A device with memory of its own hangs and is given up: it may still use the copies of its work,
 * so nobody else does. */
#include "data/buffers.h"
#include "data/pair.h"
#include "support/forget_domains.h"

static int set_up_hanging(void **state)
{
    (void)state;
    begin(false);
    forget_domains();
    sim.devices[2].domain = sim.devices[0].domain;
    return 0;
}

/* What is sent to the device ends when the test says so, and nobody hurries it. */
static void let_hang(void)
{
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.wait_sleeps = true;
}

static void give_up(unsigned place)
{
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&places[place].policy, 0));
}

static void send_and_give_up(job what)
{
    dynsel_submission submission;
    let_hang();
    send_to(0, what, &submission);
    give_up(0);
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
}

/* The device does what it was told, when nobody expects it. */
static void go_on(void)
{
    assert_true(simulated_step(&sim, 0));
    places_hurry();
}

static void end_anyhow(dynsel_buffer *buffer)
{
    const dynsel_status status = dynsel_buffer_deinit(buffer);
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_DEPENDENCY || status == DYNSEL_E_DEVICE);
    assert_int_equal(0, buffer->token);
}

static int tear_down(void **state)
{
    (void)state;
    places_hurry();
    end_anyhow(&a);
    end_anyhow(&b);
    places_end();
    return 0;
}

static void copy_that_hanging_work_writes_is_not_used_again(void **state)
{
    (void)state;
    run_on(0, set_all(a, 3));
    send_and_give_up(add_to(a, 1));
    run_on(2, set_all(a, 5)); /* in the same domain */
    assert_int_equal(1, simulated_kept(&sim));
    go_on();
    see_buffer(a, 5, 1);
    run_on(2, add_to(a, 1));
    see_buffer(a, 6, 1);
}

/* It is not sure that the device only reads it. */
static void copy_that_hanging_work_reads_is_not_used_again(void **state)
{
    (void)state;
    run_on(0, set_all(a, 3));
    see_buffer(a, 3, 1);
    send_and_give_up(copy_to(b, a));
    run_on(2, add_to(a, 1));
    go_on();
    see_buffer(a, 4, 1);
    run_on(2, set_all(b, 7));
    see_buffer(b, 7, 1);
    assert_int_equal(2, simulated_kept(&sim));
}

static void data_that_only_the_copy_of_hanging_work_had_are_lost(void **state)
{
    (void)state;
    dynsel_host_accessor accessor = {.data = NULL};
    run_on(0, set_all(a, 3));
    send_and_give_up(copy_to(b, a));
    assert_status(DYNSEL_E_DEVICE, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_DEVICE, run_job(2, &(const job){.kind = ADD, .buffers = {a}}));
    write_buffer(a, 4, 1);
    run_on(2, add_to(a, 1));
    see_buffer(a, 5, 1);
}

static void copies_of_work_behind_it_are_not_used_again(void **state)
{
    (void)state;
    run_on(0, set_all(a, 3));
    run_on(0, set_all(b, 4));
    let_hang();
    dynsel_submission behind;
    send_to(0, add_to(a, 1), NULL);
    send_to(0, add_to(b, 1), &behind);
    give_up(0);
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&behind));
    run_on(2, set_all(a, 5));
    run_on(2, set_all(b, 6));
    assert_int_equal(2, simulated_kept(&sim));
    go_on();
    see_buffer(a, 5, 1);
    see_buffer(b, 6, 1);
    assert_status(DYNSEL_E_GIVEN_UP,
                  dynsel_wait_group(dynsel_get_submission_group(&places[0].policy)));
}

/* The device may still be copying into it. */
static void new_copy_is_not_used_again(void **state)
{
    (void)state;
    send_and_give_up(copy_to(b, a));
    run_on(2, add_to(a, 1));
    go_on();
    see_buffer(a, 1, 1);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
    assert_error_says("may still use its memory");
    a = new_buffer(numbers);
}

static void end_of_a_buffer_releases_no_copy_of_hanging_work(void **state)
{
    (void)state;
    run_on(0, set_all(a, 3));
    send_and_give_up(add_to(a, 1));
    const unsigned released = sim.counts.released;
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
    assert_int_equal(released, sim.counts.released);
    a = new_buffer(numbers); /* in the same place */
    run_on(2, add_to(a, 1));
    go_on();
    see_buffer(a, 1, 1);
}

static void full_device_releases_no_copy_of_hanging_work(void **state)
{
    (void)state;
    run_on(0, set_all(a, 3));
    send_and_give_up(add_to(a, 1));
    sim.limits[sim.devices[0].domain] = BYTES;
    assert_status(DYNSEL_E_FULL, run_job(2, &(const job){.kind = ADD, .buffers = {b}}));
    sim.limits[sim.devices[0].domain] = (size_t)2 * BYTES;
    run_on(2, add_to(b, 1));
    go_on();
    see_buffer(b, 1, -1);
}

/* It is the host's, which is told when the buffer ends. */
static void shared_memory_of_hanging_work_is_not_released(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, set_all(a, 3));
    send_and_give_up((job){.kind = TOTAL, .buffers = {b, a}});
    const unsigned released = sim.counts.released;
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_discard(&a));
    assert_error_says("may still use its memory");
    assert_int_equal(released, sim.counts.released);
    a = new_buffer(numbers);
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* The device that hangs reads it, and the device that has it works. */
static void copy_that_is_passed_to_hanging_work_is_kept(void **state)
{
    (void)state;
    simulated_let_pass(&sim);
    run_on(1, set_all(a, 3));
    send_and_give_up(copy_to(b, a));
    assert_int_equal(1, sim.counts.passed);
    see_buffer(a, 3, 1);
    for (unsigned i = 0; i < SIMULATED_COPIES; i++) { /* from now on nobody may use it */
        sim.copies[i].given_up = sim.copies[i].domain != 0;
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_int_equal(3, simulated_kept(&sim));
    a = new_buffer(numbers);
}
#endif

#if CONFIG_DYNSEL_REPEAT && CONFIG_DYNSEL_POLICY_ROUND_ROBIN && CONFIG_DYNSEL_KEPT_BYTES >= 128 && \
    CONFIG_DYNSEL_MAX_RESOURCES >= 2
static void second_run_uses_other_copies(void **state)
{
    (void)state;
    const dynsel_resource resources[] = {simulated_resource(&sim, 0), simulated_resource(&sim, 2)};
    dynsel_round_robin_policy both = {0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &both, &(dynsel_options){.resources = resources, .count = 2}, 0));
    run_on(0, add_to(a, 1));
    run_on(0, add_to(b, 1));
    see_buffer(a, 1, 1); /* so that it waits for no copy */
    see_buffer(b, 1, -1);
    job total = total_of(b, a);
    total.repeatable = true;
    dynsel_submission submission;
    let_hang();
    assert_status(DYNSEL_OK, send_job_with(&both.policy, &total, &submission));
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&both.policy, submission.index));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    go_on();
    int32_t sum = 0;
    for (int32_t i = 0; i < ELEMENTS; i++) {
        sum += 1 - i;
    }
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ));
    assert_int_equal(sum, *(const int32_t *)accessor.data);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    see_buffer(b, 1, -1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&both.policy));
}
#define REPEAT_TESTS                                                                               \
    cmocka_unit_test_setup_teardown(second_run_uses_other_copies, set_up_hanging, tear_down),
#else
#define REPEAT_TESTS
#endif

#define GIVEN_UP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_hanging, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIVEN_UP_TEST(copy_that_hanging_work_writes_is_not_used_again),
        GIVEN_UP_TEST(copy_that_hanging_work_reads_is_not_used_again),
        GIVEN_UP_TEST(data_that_only_the_copy_of_hanging_work_had_are_lost),
        GIVEN_UP_TEST(copies_of_work_behind_it_are_not_used_again),
        GIVEN_UP_TEST(new_copy_is_not_used_again),
        GIVEN_UP_TEST(end_of_a_buffer_releases_no_copy_of_hanging_work),
        GIVEN_UP_TEST(full_device_releases_no_copy_of_hanging_work),
        GIVEN_UP_TEST(shared_memory_of_hanging_work_is_not_released),
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
        GIVEN_UP_TEST(copy_that_is_passed_to_hanging_work_is_kept),
#endif
        REPEAT_TESTS
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
