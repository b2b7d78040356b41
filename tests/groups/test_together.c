/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads submit command groups on the same buffers, to the host, its workers and simulated
 * devices. What they do commutes, so that the sums at the end are known; and it is done to all
 * elements of a buffer, so that whoever sees unequal ones saw half of something.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fakes/simulated_memory.h"
#include "random.h"
#include "room.h"
#include "test.h"

enum {
    THREADS = 4,
    ROUNDS = CONFIG_DYNSEL_SANITIZE_THREAD || CONFIG_DYNSEL_SANITIZE ? 300 : 2000,
    SHARED = 3,
    ELEMENTS = 16,
    KEPT = 4, /* by each thread */
    POLICIES = 3,
    DEVICES = 2,
    WORKERS = 2
};

static const dynsel_status FAILURE = (dynsel_status)((int)DYNSEL_E_USER - 7);

static simulated_backend simulated;
static dynsel_round_robin_policy in_turn;
static dynsel_dynamic_load_policy balanced;
static dynsel_fixed_resource_policy on_device;
static dynsel_policy *const policies[POLICIES] = {&in_turn.policy, &balanced.policy,
                                                  &on_device.policy};

static _Alignas(4096) uint32_t memory[SHARED][4096 / sizeof(uint32_t)];
static dynsel_buffer buffers[SHARED];

/* Kernels */

static dynsel_status add(const dynsel_launch *launch)
{
    uint32_t *data = dynsel_launch_data(launch, 0);
    const uint32_t value = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    for (size_t i = 0; i < ELEMENTS; i++) {
        data[i] += value;
    }
    return DYNSEL_OK;
}

static dynsel_status move(const dynsel_launch *launch)
{
    uint32_t *from = dynsel_launch_data(launch, 0);
    uint32_t *to = dynsel_launch_data(launch, 1);
    const uint32_t value = DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t);
    for (size_t i = 0; i < ELEMENTS; i++) {
        from[i] -= value;
        to[i] += value;
    }
    return DYNSEL_OK;
}

static dynsel_status check(const dynsel_launch *launch)
{
    const uint32_t *data = dynsel_launch_data(launch, 0);
    for (size_t i = 1; i < ELEMENTS; i++) {
        if (data[i] != data[0]) {
            return DYNSEL_E_USER;
        }
    }
    return DYNSEL_OK;
}

/* Spoils what it writes, and fails. */
static dynsel_status spoil(const dynsel_launch *launch)
{
    uint32_t *data = dynsel_launch_data(launch, 0);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        data[i] = i;
    }
    return FAILURE;
}

static dynsel_status renew(const dynsel_launch *launch)
{
    memset(dynsel_launch_data(launch, 0), 0, ELEMENTS * sizeof(uint32_t));
    return DYNSEL_OK;
}

/* Command groups */

typedef enum what { ADD, MOVE, CHECK, SPOIL, RENEW } what;

typedef struct job {
    what what;
    dynsel_buffer first;
    dynsel_buffer second;
    uint32_t value;
} job;

static const dynsel_kernel kernels[] = {
    [ADD] = {.name = "add", .function = add},       [MOVE] = {.name = "move", .function = move},
    [CHECK] = {.name = "check", .function = check}, [SPOIL] = {.name = "spoil", .function = spoil},
    [RENEW] = {.name = "renew", .function = renew},
};
static const dynsel_access_mode modes[] = {
    [ADD] = DYNSEL_ACCESS_READ_WRITE,      [MOVE] = DYNSEL_ACCESS_READ_WRITE,
    [CHECK] = DYNSEL_ACCESS_READ,          [SPOIL] = DYNSEL_ACCESS_READ_WRITE,
    [RENEW] = DYNSEL_ACCESS_DISCARD_WRITE,
};

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const job *j = args;
    dynsel_accessor first;
    dynsel_accessor second;
    uint32_t next = 0;
    dynsel_status status =
        dynsel_get_access(handler, j->first, modes[j->what], DYNSEL_MEMORY_GLOBAL, &first);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, next++, &first);
    }
    if (status == DYNSEL_OK && j->what == MOVE) {
        status = dynsel_get_access(handler, j->second, DYNSEL_ACCESS_READ_WRITE,
                                   DYNSEL_MEMORY_GLOBAL, &second);
        if (status == DYNSEL_OK) {
            status = dynsel_set_arg_accessor(handler, next++, &second);
        }
    }
    if (status == DYNSEL_OK && j->what <= MOVE) {
        status = dynsel_set_arg_value(handler, next, &j->value, sizeof j->value);
    }
    return status == DYNSEL_OK ? dynsel_single_task(handler, &kernels[j->what]) : status;
}

/* Threads */

typedef struct actor {
    pthread_t thread;
    test_random random;
    dynsel_submission kept[KEPT];
    unsigned wrong;
    uint32_t sums[SHARED]; /* what it added to each */
    bool fails;            /* there is work that fails */
    bool has[KEPT];
} actor;

static void expect(actor *a, bool holds, const char *text)
{
    if (!holds) {
        char error[300];
        (void)dynsel_error_text(NULL, error, sizeof error);
        fprintf(stderr, "%s; last error: %s\n", text, error);
        a->wrong++;
    }
}

/* How work may end, when it was accepted. */
static bool may_be(const actor *a, dynsel_status status)
{
    return status == DYNSEL_OK ||
           (a->fails && (status == FAILURE || status == DYNSEL_E_DEPENDENCY));
}

static void collect(actor *a, unsigned i)
{
    if (a->has[i]) {
        a->has[i] = false;
        expect(a, may_be(a, dynsel_wait(&a->kept[i])), "work failed that must not");
    }
}

static dynsel_status submit(actor *a, job *j)
{
    dynsel_policy *policy = policies[test_random_below(&a->random, POLICIES)];
    const unsigned i = test_random_below(&a->random, KEPT);
    dynsel_status status = DYNSEL_OK;
    switch (test_random_below(&a->random, 4)) {
    case 0:
        return dynsel_submit_command_group_and_wait(policy, record, j);
    case 1:
        return dynsel_submit_command_group(policy, record, j, NULL);
    case 2:
        return dynsel_try_submit_command_group(policy, record, j, NULL);
    default:
        collect(a, i);
        status = dynsel_submit_command_group(policy, record, j, &a->kept[i]);
        a->has[i] = status == DYNSEL_OK;
        return status;
    }
}

static void do_group(actor *a)
{
    const unsigned first = test_random_below(&a->random, SHARED);
    const unsigned second = (first + 1 + test_random_below(&a->random, SHARED - 1)) % SHARED;
    static const what kinds[] = {ADD, MOVE, CHECK, ADD, MOVE, CHECK, RENEW, SPOIL};
    job j = {.what = kinds[test_random_below(&a->random, a->fails ? 8 : 3)],
             .first = buffers[first],
             .second = buffers[second],
             .value = test_random_below(&a->random, 1000)};
    const dynsel_status status = submit(a, &j);
    expect(a, may_be(a, status) || status == DYNSEL_E_FULL, "a submission failed");
    if (status == DYNSEL_OK && j.what <= MOVE) {
        a->sums[first] += j.what == ADD ? j.value : 0u - j.value;
        a->sums[second] += j.what == MOVE ? j.value : 0;
    }
}

static void do_access(actor *a)
{
    const unsigned b = test_random_below(&a->random, SHARED);
    const bool writes = test_random_below(&a->random, 2) == 0;
    const dynsel_access_mode mode = writes ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ;
    dynsel_host_accessor seen = {.data = NULL};
    const dynsel_status status =
        test_random_below(&a->random, 3) == 0
            ? dynsel_host_accessor_open_for(&seen, buffers[b], mode,
                                            test_random_below(&a->random, 100000))
            : dynsel_host_accessor_open(&seen, buffers[b], mode);
    expect(a, may_be(a, status) || status == DYNSEL_E_TIMEOUT, "a host accessor failed");
    if (status != DYNSEL_OK) {
        return;
    }
    uint32_t *data = seen.data;
    const uint32_t before = data[0];
    for (size_t i = 0; i < ELEMENTS; i++) {
        expect(a, data[i] == before, "a host accessor shows half of something");
        if (writes) {
            data[i] += 7;
        }
    }
    a->sums[b] += writes ? 7 : 0;
    expect(a, dynsel_host_accessor_close(&seen) == DYNSEL_OK, "closing failed");
}

/* A buffer of the thread's own comes and goes beside the shared ones. */
static void do_own(actor *a)
{
    uint32_t data[ELEMENTS];
    for (size_t i = 0; i < ELEMENTS; i++) {
        data[i] = 5;
    }
    dynsel_buffer own = {0};
    const dynsel_status status =
        dynsel_buffer_init(&own, data, sizeof data[0], DYNSEL_RANGE(ELEMENTS));
    expect(a, status == DYNSEL_OK, "a buffer could not be made");
    for (uint32_t i = 0; i < 3 && status == DYNSEL_OK; i++) {
        job j = {.what = ADD, .first = own, .value = 10};
        dynsel_policy *policy = policies[test_random_below(&a->random, POLICIES)];
        expect(a, dynsel_submit_command_group_and_wait(policy, record, &j) == DYNSEL_OK,
               "work on a thread's own buffer failed");
    }
    expect(a, dynsel_buffer_deinit(&own) == DYNSEL_OK, "a buffer could not be ended");
    expect(a, data[ELEMENTS - 1] == 35, "a thread's own buffer is wrong");
}

static void *act(void *args)
{
    actor *a = args;
    for (unsigned i = 0; i < ROUNDS && a->wrong < 5; i++) {
        const uint32_t chance = test_random_below(&a->random, 100);
        if (chance < 70) {
            do_group(a);
        } else if (chance < 85) {
            do_access(a);
        } else if (chance < 90) {
            do_own(a);
        } else if (chance < 95) {
            dynsel_progress();
        } else {
            collect(a, chance % KEPT);
        }
    }
    for (unsigned i = 0; i < KEPT; i++) {
        collect(a, i);
    }
    return NULL;
}

/* Resources and policies */

static void begin(uint64_t seed, simulated_pace pace, bool in_order)
{
    simulated_reset(&simulated, seed, pace == SIMULATED_WHEN_POLLED && in_order);
    dynsel_resource resources[1 + WORKERS + DEVICES] = {{.backend = &dynsel_inline_backend}};
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources + 1, WORKERS, &count));
    count++;
    for (unsigned i = 0; i < DEVICES; i++) {
        simulated.devices[i].pace = pace;
        simulated.devices[i].polls = 3;
        simulated.devices[i].in_order = in_order;
        simulated.devices[i].moves_beside = in_order && i != 0;
        simulated.devices[i].shares = !in_order && i == 0;
        resources[count++] = simulated_resource(&simulated, i);
    }
    const dynsel_options options = {.resources = resources, .count = count};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&in_turn, &options, 0));
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&balanced, &options));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_device, &options, count - 1));
    for (unsigned i = 0; i < SHARED; i++) {
        memset(memory[i], 0, sizeof memory[i]);
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], memory[i], sizeof memory[i][0],
                                                    DYNSEL_RANGE(ELEMENTS)));
    }
}

static void end(void)
{
    for (unsigned i = 0; i < POLICIES; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(policies[i]));
    }
    memset(&in_turn, 0, sizeof in_turn);
    memset(&balanced, 0, sizeof balanced);
    memset(&on_device, 0, sizeof on_device);
    simulated_assert_clean(&simulated, true);
}

static actor actors[THREADS];

static void let_them_act(uint64_t seed, bool fails)
{
    test_random random = {seed};
    memset(actors, 0, sizeof actors);
    for (unsigned i = 0; i < THREADS; i++) {
        actors[i].random.state = test_random_next(&random);
        actors[i].fails = fails;
        assert_int_equal(pthread_create(&actors[i].thread, NULL, act, &actors[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(actors[i].thread, NULL), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(actors[i].wrong, 0);
    }
}

static void assert_sum(unsigned b)
{
    uint32_t expected = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        expected += actors[i].sums[b];
    }
    for (size_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(memory[b][i], expected);
    }
}

static void check_sums(simulated_pace pace, bool in_order)
{
    const uint64_t seed = test_seed();
    begin(seed, pace, in_order);
    let_them_act(seed, false);
    for (unsigned i = 0; i < POLICIES; i++) {
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policies[i])));
    }
    for (unsigned b = 0; b < SHARED; b++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[b]));
        assert_sum(b);
    }
    end();
}

static void threads_on_in_order_devices_give_exact_sums(void **state)
{
    (void)state;
    check_sums(SIMULATED_WHEN_POLLED, true);
}

static void threads_on_out_of_order_devices_give_exact_sums(void **state)
{
    (void)state;
    check_sums(SIMULATED_WHEN_POLLED, false);
}

static void threads_on_immediate_devices_give_exact_sums(void **state)
{
    (void)state;
    check_sums(SIMULATED_AT_ONCE, true);
}

/* CHECK would see what SPOIL left. */
static void concurrent_failures_reach_dependents_without_hang(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    begin(seed, SIMULATED_WHEN_POLLED, true);
    let_them_act(seed, true);
    for (unsigned i = 0; i < POLICIES; i++) {
        assert_true(
            may_be(&actors[0], dynsel_wait_group(dynsel_get_submission_group(policies[i]))));
    }
    for (unsigned b = 0; b < SHARED; b++) {
        job j = {.what = RENEW, .first = buffers[b]};
        assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&in_turn.policy, record, &j));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[b]));
        assert_int_equal(memory[b][ELEMENTS - 1], 0);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_on_in_order_devices_give_exact_sums),
        cmocka_unit_test(threads_on_out_of_order_devices_give_exact_sums),
        cmocka_unit_test(threads_on_immediate_devices_give_exact_sums),
        cmocka_unit_test(concurrent_failures_reach_dependents_without_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
