/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers as arguments: accepting resources, excluded resources, and refused pointers. */
#include <string.h>

#include <dynsel/dynsel.h>

#include "fakes/simulated_memory.h"
#include "test.h"

enum { A, B, HOST, COUNT, ROUNDS = 2 * COUNT };

static simulated_backend sim;
static dynsel_round_robin_policy policy;
static const dynsel_resource *last;
static int number;

static dynsel_status raise(const dynsel_launch *launch)
{
    int *data = dynsel_launch_data(launch, 0);
    last = launch->where;
    *(data != NULL ? data : &number) += DYNSEL_LAUNCH_VALUE(launch, 1, int);
    return DYNSEL_OK;
}

static const dynsel_kernel raising = {.name = "raise", .function = raise};

typedef struct job {
    const void *pointer;
    uint32_t index;
    uint32_t id;
} job;

static dynsel_status raise_it(dynsel_handler *handler, void *args)
{
    const job *what = args;
    const int value = 3;
    (void)dynsel_set_arg_pointer(handler, what->index, what->pointer);
    (void)dynsel_set_arg_value(handler, 1, &value, sizeof value);
    return dynsel_single_task(handler, &raising);
}

static void begin_with(size_t count)
{
    const dynsel_resource resources[COUNT] = {
        simulated_resource(&sim, A), simulated_resource(&sim, B), {&dynsel_inline_backend, NULL}};
    const dynsel_options options = {.resources = resources, .count = count};
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
}

static int set_up(void **state)
{
    (void)state;
    simulated_reset(&sim, 1, false);
    number = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    simulated_assert_clean(&sim, true);
    return 0;
}

static dynsel_status run(const void *pointer)
{
    job what = {.pointer = pointer};
    return dynsel_submit_command_group_and_wait(&policy.policy, raise_it, &what);
}

/* How many of some rounds went to each resource. */
static void count_rounds(const void *pointer, unsigned *counts)
{
    for (unsigned i = 0; i < COUNT; i++) {
        counts[i] = 0;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        assert_status(DYNSEL_OK, run(pointer));
        counts[last->backend == &dynsel_inline_backend
                   ? HOST
                   : (simulated_device *)last->handle - sim.devices]++;
    }
    assert_int_equal(3 * ROUNDS, number);
}

static void host_accepts_any_pointer(void **state)
{
    unsigned counts[COUNT];
    (void)state;
    begin_with(COUNT);
    sim.devices[A].sharing = DYNSEL_SHARES_ALLOCATED;
    count_rounds(&number, counts);
    assert_int_equal(ROUNDS, counts[HOST]);
}

static void device_sharing_all_memory_accepts_any_pointer(void **state)
{
    unsigned counts[COUNT];
    (void)state;
    begin_with(COUNT);
    sim.devices[B].sharing = DYNSEL_SHARES_ALL;
    count_rounds(&number, counts);
    assert_int_equal(0, counts[A]);
    assert_int_equal(ROUNDS / 2, counts[B]);
    assert_int_equal(ROUNDS / 2, counts[HOST]);
}

static void null_pointer_is_accepted_by_all_resources(void **state)
{
    unsigned counts[COUNT];
    (void)state;
    begin_with(COUNT);
    count_rounds(NULL, counts);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(ROUNDS / COUNT, counts[i]);
    }
}

static void unreachable_pointer_error_has_argument_number(void **state)
{
    (void)state;
    begin_with(HOST);
    for (unsigned i = 0; i < DYNSEL_SHARES_ALL; i++) {
        sim.devices[A].sharing = (dynsel_sharing)i;
        assert_status(DYNSEL_E_INVALID, run(&number));
        if (CONFIG_DYNSEL_ERROR_TEXTS) {
            assert_non_null(strstr(dynsel_last_error()->detail, "argument {} points to memory"));
        }
        assert_int_equal(0, dynsel_last_error()->number);
    }
    job second = {.pointer = &number, .index = 0};
    assert_status(DYNSEL_E_INVALID,
                  dynsel_try_submit_command_group(&policy.policy, raise_it, &second, NULL));
    assert_int_equal(0, sim.counts.launched);
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, run(NULL));
}

/* What a policy sees */

static dynsel_policy asked;
static uint32_t seen_id;
static bool seen_excluded;

static dynsel_status see_and_choose(dynsel_policy *self, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    seen_id = task->id;
    seen_excluded = task->excluded != NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        if (dynsel_policy_may_use(self, i, task)) {
            selection->index = i;
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(self, task);
}

static uint32_t id_of(const void *pointer, bool excluded)
{
    job what = {.pointer = pointer};
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&asked, raise_it, &what));
    assert_int_equal(excluded, seen_excluded);
    return seen_id;
}

/* Work that can go to fewer resources is learned apart; what all take is like any other. */
static void work_for_fewer_resources_gets_its_own_learning_id(void **state)
{
    static const dynsel_policy_ops ops = {.name = "sees", .try_select = see_and_choose};
    const dynsel_resource resources[] = {simulated_resource(&sim, A),
                                         {&dynsel_inline_backend, NULL}};
    const dynsel_options options = {.resources = resources, .count = 2};
    (void)state;
    begin_with(COUNT);
    memset(&asked, 0, sizeof asked);
    assert_status(DYNSEL_OK, dynsel_policy_init(&asked, &ops, &options));
    const uint32_t plain = id_of(NULL, false);
    const uint32_t on_host = id_of(&number, true);
    assert_int_not_equal(plain, on_host);
    assert_int_equal(on_host, id_of(&number, true));
    sim.devices[A].sharing = DYNSEL_SHARES_ALL;
    assert_int_equal(plain, id_of(&number, false));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&asked));
}

static dynsel_status set_it_again(dynsel_handler *handler, void *args)
{
    const int value = 3;
    (void)dynsel_set_arg_pointer(handler, 0, args);
    (void)dynsel_set_arg_pointer(handler, 0, NULL);
    (void)dynsel_set_arg_pointer(handler, 1, args);
    (void)dynsel_set_arg_value(handler, 1, &value, sizeof value);
    return dynsel_single_task(handler, &raising);
}

static void pointer_set_last_is_passed(void **state)
{
    (void)state;
    begin_with(HOST);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&policy.policy, set_it_again, &number));
    assert_int_equal(3, number);
}

static dynsel_status set_too_far(dynsel_handler *handler, void *args)
{
    assert_status(DYNSEL_E_FULL,
                  dynsel_set_arg_pointer(handler, CONFIG_DYNSEL_MAX_ARGUMENTS, args));
    return DYNSEL_OK;
}

static void pointer_argument_index_beyond_limit_is_refused(void **state)
{
    (void)state;
    begin_with(COUNT);
    assert_status(DYNSEL_E_FULL,
                  dynsel_submit_command_group_and_wait(&policy.policy, set_too_far, &number));
    assert_status(DYNSEL_E_INVALID, dynsel_set_arg_pointer(NULL, 0, &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(host_accepts_any_pointer),
        TEST(device_sharing_all_memory_accepts_any_pointer),
        TEST(null_pointer_is_accepted_by_all_resources),
        TEST(unreachable_pointer_error_has_argument_number),
        TEST(work_for_fewer_resources_gets_its_own_learning_id),
        TEST(pointer_set_last_is_passed),
        TEST(pointer_argument_index_beyond_limit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
