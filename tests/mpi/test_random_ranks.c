/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of command groups over this process and the resources of other ranks, against an
 * interpreter: everything equal bit for bit.
 *
 * DYNSEL_TEST_SEED repeats a run, DYNSEL_TEST_PROGRAMS makes it longer.
 */
#include <dynsel/dynsel.h>

#include "groups/kernels.h"
#include "groups/play.h"
#include "mpi/served.h"
#include "random.h"
#include "test.h"

enum { PROGRAMS = 400, PROGRAMS_OF_A_WORLD = 20, MOST_RESOURCES = 32 };

static dynsel_resource resources[MOST_RESOURCES];
static size_t resource_count;
static play_world world;

static dynsel_fixed_resource_policy on_host;
static dynsel_fixed_resource_policy on_last;
static dynsel_round_robin_policy in_turn;
static dynsel_round_robin_policy elsewhere;
static dynsel_dynamic_load_policy balanced;
static dynsel_auto_tune_policy tuned;
static dynsel_earliest_finish_policy finisher;

static void add_place(dynsel_policy *policy, bool is_host, bool runs_c, size_t only)
{
    bool takes_source = false;
    const size_t first = only != 0 ? only - 1 : 0;
    const size_t end = only != 0 ? only : resource_count;
    for (size_t i = first; i < end; i++) {
        takes_source = takes_source || resources[i].backend == &dynsel_mpi_device_backend;
    }
    world.places[world.count++] = (play_place){.policy = policy,
                                               .runs_c = runs_c,
                                               .is_host = is_host,
                                               .takes_source = takes_source,
                                               .only = only};
}

static int begin(void **state)
{
    (void)state;
    size_t count = 0;
    resources[0] = (dynsel_resource){.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, resources + 1, MOST_RESOURCES - 1, &count));
    assert_true(count >= dynsel_mpi_rank_count() - 1);
    resource_count = 1 + count;
    const dynsel_options all = {.resources = resources, .count = resource_count};
    const dynsel_options others = {.resources = resources + 1, .count = count};
    const bool last_runs_c = resources[count].backend == &dynsel_mpi_backend;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&in_turn, &all, 0));
    add_place(&in_turn.policy, true, true, 0);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_host, &all, 0));
    add_place(&on_host.policy, true, true, 1);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_last, &all, count));
    add_place(&on_last.policy, false, last_runs_c, resource_count);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&elsewhere, &others, 0));
    add_place(&elsewhere.policy, false, true, 0);
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&balanced, &all));
    add_place(&balanced.policy, true, true, 0);
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuned, &all, DYNSEL_NEVER_RESAMPLE));
    add_place(&tuned.policy, true, true, 0);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    add_place(&finisher.policy, true, true, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < world.count; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(world.places[i].policy));
    }
    return 0;
}

static void random_programs_over_ranks_agree_with_interpreter(void **state)
{
    (void)state;
    const unsigned programs = play_count(PROGRAMS);
    test_random random = {test_seed()};
    for (unsigned i = 0; i < programs; i++) {
        if (i % PROGRAMS_OF_A_WORLD == 0) {
            assert_true(i == 0 || play_end(&world));
            play_begin(&world, test_random_next(&random));
        }
        assert_true(play_program(&world, test_random_next(&random), true));
    }
    assert_true(play_end(&world));
}

static void all_ranks_end(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_close());
}

int main(void)
{
    static const dynsel_kernel *kernels[KERNELS];
    dynsel_mpi_options options = served_options();
    for (unsigned i = 0; i < KERNELS; i++) {
        if (i != BROKEN && i != REFUSED) { /* no rank has a form of these */
            kernels[options.kernel_count++] = &program_kernels[i];
        }
    }
    options.kernels = kernels;
    served_begin(options);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_programs_over_ranks_agree_with_interpreter, begin,
                                        end),
        cmocka_unit_test(all_ranks_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
