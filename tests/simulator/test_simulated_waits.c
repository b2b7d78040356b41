/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait starts other work as soon as that is ready. Work on one device takes long, work on another
 * is short, and a third device has work for the results of both: what needs the short one must not
 * wait for the long one, whatever the program waits for.
 */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#include "test.h"

enum {
    SLOW,
    FAST,
    LAST, /* the device of what needs the results */
    DEVICES,
    US = 1000,
    LONG_US = 2000,
    SHORT_US = 100,
    NEXT_US = 700,
    SEES_LATE_US = 50
};

static dynsel_simulated_device devices[DEVICES];
static dynsel_resource resources[DEVICES];
static dynsel_fixed_resource_policy policies[DEVICES];
static float data[DEVICES][64];
static dynsel_buffer buffers[DEVICES];
static dynsel_submission of_long;
static uint64_t next_began_ns;

static dynsel_status run_first(const dynsel_launch *launch)
{
    (void)launch;
    const bool is_slow = dynsel_simulated_running() == &devices[SLOW];
    dynsel_simulated_spend((is_slow ? LONG_US : SHORT_US) * (uint64_t)US);
    return DYNSEL_OK;
}

static dynsel_status run_next(const dynsel_launch *launch)
{
    (void)launch;
    next_began_ns = next_began_ns == 0 ? dynsel_now_ns() : next_began_ns;
    dynsel_simulated_spend(NEXT_US * (uint64_t)US);
    return DYNSEL_OK;
}

static const dynsel_kernel first = {.name = "first", .id = 1, .function = run_first};
static const dynsel_kernel next = {.name = "next", .id = 2, .function = run_next};

static dynsel_status write(dynsel_handler *handler, void *args)
{
    const uint32_t *const at = args;
    dynsel_accessor out;
    dynsel_get_access(handler, buffers[*at], DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL,
                      &out);
    dynsel_set_arg_accessor(handler, 0, &out);
    return dynsel_parallel_for(handler, &first, DYNSEL_RANGE(64), NULL, NULL);
}

static dynsel_status read(dynsel_handler *handler, void *args)
{
    const uint32_t *const at = args;
    dynsel_accessor in;
    dynsel_get_access(handler, buffers[*at], DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &in);
    dynsel_set_arg_accessor(handler, 0, &in);
    return dynsel_parallel_for(handler, &next, DYNSEL_RANGE(64), NULL, NULL);
}

/* What needs the result of the long work is submitted first. */
static int set_up(void **state)
{
    static uint32_t numbers[DEVICES] = {SLOW, FAST, LAST};
    (void)state;
    dynsel_simulated_restart();
    (void)memset(policies, 0, sizeof policies);
    of_long = (dynsel_submission){0};
    next_began_ns = 0;
    for (uint32_t i = 0; i < DEVICES; i++) {
        devices[i] = (dynsel_simulated_device){
            .name = "device", .memory = i + 1, .submit_ns = US, .latency_ns = US};
        resources[i] = dynsel_simulated_resource(&devices[i]);
        const dynsel_options one = {.resources = &resources[i], .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policies[i], &one, 0));
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], data[i], sizeof data[i][0],
                                                    DYNSEL_RANGE(64)));
    }
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&policies[SLOW].policy, write,
                                                         &numbers[SLOW], &of_long));
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policies[FAST].policy, write, &numbers[FAST], NULL));
    for (uint32_t i = SLOW; i <= FAST; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&policies[LAST].policy, read, &numbers[i], NULL));
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_wait_group(dynsel_get_submission_group(&policies[i].policy)));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policies[i].policy));
    }
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    return 0;
}

static void assert_next_began_soon(void)
{
    assert_true(dynsel_now_ns() >= (uint64_t)LONG_US * US);
    assert_int_not_equal(0, next_began_ns);
    assert_true(next_began_ns <= (uint64_t)(SHORT_US + SEES_LATE_US) * US);
}

static void wait_for_a_group_starts_what_is_ready(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK,
                  dynsel_wait_group(dynsel_get_submission_group(&policies[LAST].policy)));
    assert_next_began_soon();
    assert_true(dynsel_now_ns() <= (uint64_t)(LONG_US + NEXT_US + SEES_LATE_US) * US);
    assert_status(DYNSEL_OK, dynsel_wait(&of_long));
}

static void wait_for_running_work_starts_what_is_ready(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_wait(&of_long));
    assert_next_began_soon();
}

static void opening_a_host_accessor_starts_what_is_ready(void **state)
{
    (void)state;
    dynsel_host_accessor accessor = {0};
    assert_status(DYNSEL_OK,
                  dynsel_host_accessor_open(&accessor, buffers[SLOW], DYNSEL_ACCESS_READ));
    assert_next_began_soon();
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    assert_status(DYNSEL_OK, dynsel_wait(&of_long));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wait_for_a_group_starts_what_is_ready, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wait_for_running_work_starts_what_is_ready, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(opening_a_host_accessor_starts_what_is_ready, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
