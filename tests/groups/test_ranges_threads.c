/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges from several threads, on devices that have too little staging memory for all at once. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>

#include "fakes/simulated_memory.h"
#include "support/range_cases.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 150, DEVICES = 2 };

static simulated_backend sim;
static dynsel_round_robin_policy policy;

/* cmocka's own asserts are for its thread only. */
static void *play(void *args)
{
    static range_world worlds[THREADS];
    const size_t number = *(const size_t *)args;
    range_world *const world = &worlds[number];
    size_t failures = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t seed = round * THREADS + number;
        range_job work = {&range_cases[(round + number) % RANGE_CASES], world};
        range_fill(world, seed);
        const dynsel_status status =
            dynsel_submit_command_group_and_wait(&policy.policy, range_record, &work);
        failures += status == DYNSEL_OK && range_is_right(&work, seed) ? 0 : 1;
        dynsel_range_bytes bytes; /* while others are counted */
        const dynsel_status read = dynsel_get_range_statistics(&policy.policy, &bytes);
        failures += read == (CONFIG_DYNSEL_STATISTICS ? DYNSEL_OK : DYNSEL_E_UNSUPPORTED) ? 0 : 1;
    }
    return failures == 0 ? args : NULL;
}

static void threads_share_scarce_staging_memory(void **state)
{
    dynsel_resource resources[DEVICES + 1];
    pthread_t threads[THREADS];
    size_t numbers_of[THREADS];
    (void)state;
    simulated_reset(&sim, 1, false);
    for (unsigned i = 0; i < DEVICES; i++) {
        sim.devices[i].sharing = DYNSEL_SHARES_ALL;
        sim.devices[i].pace = SIMULATED_WHEN_POLLED;
        sim.devices[i].polls = 3;
        sim.devices[i].in_order = i == 0;
        resources[i] = simulated_resource(&sim, i);
    }
    resources[DEVICES] = (dynsel_resource){.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = resources, .count = DEVICES + 1};
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    for (size_t i = 0; i < THREADS; i++) {
        numbers_of[i] = i;
        assert_int_equal(0, pthread_create(&threads[i], NULL, play, &numbers_of[i]));
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *right = NULL;
        assert_int_equal(0, pthread_join(threads[i], &right));
        assert_non_null(right);
    }
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    simulated_assert_clean(&sim, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_scarce_staging_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
