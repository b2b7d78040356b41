/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable command groups on simulated devices that fail as a test orders. */
#ifndef DYNSEL_TESTS_REPEAT_GROUPS_H
#define DYNSEL_TESTS_REPEAT_GROUPS_H

#include "data/pair.h"
#include "room.h"

enum { FIRST, SECOND, THIRD, COUNT };

static dynsel_round_robin_policy round_robin;
static dynsel_policy *const policy = &round_robin.policy;
static dynsel_repeat_statistics before;

/* What the kernel does; it must not call the library. */
static unsigned runs;
static unsigned failures_left;
static bool is_repeatable;
static dynsel_access_mode mode; /* of a */
#if CONFIG_DYNSEL_TIME_LIMITS
static uint64_t limit_ns; /* 0: none */
#endif

static inline void begin_policy(unsigned first, unsigned second)
{
    dynsel_resource resources[2];
    size_t count = 0;
    resources[0] = *dynsel_get_resources(&places[first].policy, &count);
    resources[1] = *dynsel_get_resources(&places[second].policy, &count);
    round_robin = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK,
                  dynsel_round_robin_init(
                      &round_robin, &(dynsel_options){.resources = resources, .count = 2}, 0));
    before = dynsel_get_repeat_statistics();
    runs = 0;
    failures_left = 0;
    is_repeatable = true;
    mode = DYNSEL_ACCESS_READ_WRITE;
}

static inline void end_policy(void)
{
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
}

/* a := b + 1, or a + b + 1. A run that fails spoils what it writes. */
static inline dynsel_status work(const dynsel_launch *launch)
{
    int32_t *to = dynsel_launch_data(launch, 0);
    const int32_t *from = dynsel_launch_data(launch, 1);
    const bool fails = failures_left > 0;
    failures_left -= fails ? 1 : 0;
    runs++;
    for (size_t i = 0; i < ELEMENTS; i++) {
        const int32_t old = mode == DYNSEL_ACCESS_READ_WRITE ? to[i] : 0;
        to[i] = fails ? -1000 - (int32_t)i : old + from[i] + 1;
    }
    return fails ? DYNSEL_E_DEVICE : DYNSEL_OK;
}

static inline dynsel_status record_work(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "work", .function = work};
    (void)args;
    dynsel_accessor to;
    dynsel_accessor from;
    if (is_repeatable) {
        (void)dynsel_set_repeatable(handler);
    }
#if CONFIG_DYNSEL_TIME_LIMITS
    if (limit_ns != 0) {
        (void)dynsel_set_time_limit(handler, limit_ns);
    }
#endif
    (void)dynsel_get_access(handler, a, mode, DYNSEL_MEMORY_GLOBAL, &to);
    (void)dynsel_get_access(handler, b, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &from);
    (void)dynsel_set_arg_accessor(handler, 0, &to);
    (void)dynsel_set_arg_accessor(handler, 1, &from);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static inline dynsel_status submit(dynsel_submission *submission)
{
    return dynsel_try_submit_command_group(policy, record_work, NULL, submission);
}

/* How a device has its memory: its own, shared with the host, or shared once it is handed over. */
typedef enum memory_kind { OWN, SHARED, MAPPED, MEMORY_KINDS } memory_kind;

static inline void set_memory(unsigned device, memory_kind kind)
{
    sim.devices[device].shares = kind != OWN;
    sim.devices[device].maps_first = kind == MAPPED;
}

/* Else it is over when its submit returns. */
static inline void let_work_take_time(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        sim.devices[i].polls = 3;
        sim.devices[i].pace = SIMULATED_WHEN_POLLED;
    }
}

typedef enum failing {
    IN_KERNEL,
    IN_ALLOCATE,
    IN_LAUNCH,
    LATE_IN_LAUNCH,
    IN_BRING,
    LATE_IN_BRING,
    FAILINGS
} failing;

static inline void let_fail(failing how)
{
    static const simulated_kind kinds[FAILINGS] = {[IN_ALLOCATE] = SIMULATED_ALLOCATE,
                                                   [IN_LAUNCH] = SIMULATED_LAUNCH,
                                                   [LATE_IN_LAUNCH] = SIMULATED_LAUNCH,
                                                   [IN_BRING] = SIMULATED_BRING,
                                                   [LATE_IN_BRING] = SIMULATED_BRING};
    if (how == IN_KERNEL) {
        failures_left = 1;
    } else {
        simulated_fail(&sim, kinds[how], 1, how == LATE_IN_LAUNCH || how == LATE_IN_BRING,
                       DYNSEL_E_DEVICE);
    }
}

/* Two devices of one kind. */
static inline int set_up_repeat(void **state)
{
    (void)state;
    begin(false);
    set_memory(FIRST, OWN);
    set_memory(SECOND, OWN);
    begin_policy(FIRST, SECOND);
    return 0;
}

static inline int tear_down_repeat(void **state)
{
    (void)state;
    end_policy();
    places_hurry();
    (void)!dynsel_buffer_deinit(&a);
    (void)!dynsel_buffer_deinit(&b);
    places_end();
    return 0;
}

static inline void see_lost(dynsel_buffer buffer)
{
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_E_DEPENDENCY,
                  dynsel_host_accessor_open(&accessor, buffer, DYNSEL_ACCESS_READ));
}

/* A policy that takes the first resource it may use, and counts what it is told. */
static unsigned told_of_start;
static unsigned told_of_withdrawal;
static unsigned told_of_copy_back;

static inline dynsel_status choose_first(dynsel_policy *asked, const dynsel_task *task,
                                         dynsel_selection *selection)
{
    selection->index = 0;
    selection->wants |= DYNSEL_TASK_READBACK_TIME;
    while (!dynsel_policy_may_use(asked, selection->index, task)) {
        if (++selection->index == asked->count) {
            return DYNSEL_E_OUT_OF_SERVICE;
        }
    }
    return DYNSEL_OK;
}

static inline void count_report(dynsel_policy *told, const dynsel_selection *selection,
                                dynsel_execution_info info, uint64_t value)
{
    (void)told;
    (void)selection;
    (void)value;
    told_of_start += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    told_of_withdrawal += info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
    told_of_copy_back += info == DYNSEL_TASK_READBACK_TIME ? 1 : 0;
}

static dynsel_policy listening;

static inline void begin_listening(size_t count)
{
    static const dynsel_policy_ops ops = {.name = "listening",
                                          .needs = DYNSEL_TASK_SUBMISSION,
                                          .try_select = choose_first,
                                          .report = count_report};
    dynsel_resource resources[2];
    for (unsigned i = 0; i < 2; i++) {
        resources[i] = simulated_resource(&sim, i);
    }
    listening = (dynsel_policy){0};
    told_of_start = 0;
    told_of_withdrawal = 0;
    told_of_copy_back = 0;
    assert_status(DYNSEL_OK,
                  dynsel_policy_init(&listening, &ops,
                                     &(dynsel_options){.resources = resources, .count = count}));
}

#define REPEAT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_repeat, tear_down_repeat)

#endif
