/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that cannot be, and devices that fail at each step. */
#include "support/do_nothing.h"
#include "support/places.h"
#include "support/put_in_service.h"
#include "support/range_cases.h"

#include <string.h>

enum { DEVICE = 0, FEW = 4 };

static int host_square(int x)
{
    return x * x;
}

DYNSEL_HOST_TRANSFORM_ITERATOR(on_the_host, inputs, host_square, int);
DYNSEL_REVERSE_ITERATOR(backwards_twice, backwards);
DYNSEL_PERMUTATION_ITERATOR(mapped_again, mapped, inputs);

/* With a table that may be empty. */
typedef struct with_table {
    inputs all;
    mapped table;
    uint64_t used;
} with_table;
DYNSEL_LEAVES(with_table, DYNSEL_PART(inputs, all) DYNSEL_COUNTED_PART(mapped, table, used));

typedef struct wide {
    int numbers[64];
} wide;
DYNSEL_HOST_ITERATOR(wide_ones, wide);

static range_world world;
static dynsel_round_robin_policy both; /* the device and the host */

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    sim.devices[DEVICE].sharing = DYNSEL_SHARES_ALL;
    range_fill(&world, 1);
    const dynsel_resource resources[] = {simulated_resource(&sim, DEVICE),
                                         {.backend = &dynsel_inline_backend}};
    const dynsel_options options = {.resources = resources, .count = 2};
    both = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&both, &options, 0));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&both.policy));
    places_end();
    return 0;
}

static const dynsel_kernel nothing = {.name = "nothing", .function = launch_nothing};

/* What is set before `nothing` is launched. */
typedef dynsel_status (*set_fn)(dynsel_handler *handler);

typedef struct attempt {
    set_fn set;
} attempt;

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const attempt *tried = args;
    (void)tried->set(handler); /* its failure is that of the submission all the same */
    return dynsel_parallel_for(handler, &nothing, DYNSEL_RANGE(FEW), NULL, NULL);
}

static dynsel_status try_with(dynsel_policy *policy, set_fn set)
{
    attempt tried = {set};
    return dynsel_submit_command_group_and_wait(policy, record, &tried);
}

static dynsel_status try_on(unsigned place, set_fn set)
{
    return try_with(&places[place].policy, set);
}

#define assert_refused(set, status, text) check_refused(set, status, text, __FILE__, __LINE__)

static void check_refused(set_fn set, dynsel_status status, const char *text, const char *file,
                          int line)
{
    for (unsigned i = 0; i < 2; i++) {
        const dynsel_status got = try_on(i == 0 ? DEVICE : HOST, set);
        if (got != status) {
            print_error("%s\n", dynsel_status_name(got));
            _fail(file, line);
        }
        assert_error_says(text);
    }
    assert_int_equal(0, sim.counts.allocated);
    assert_int_equal(0, sim.counts.launched);
}

static dynsel_status set_null(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, inputs, inputs_make(NULL), FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status set_null_direct(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, reached, reached_make(NULL), FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status set_null_source(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, mapped,
                            mapped_make(inputs_make(NULL), inputs_make(world.map), 1), FEW,
                            DYNSEL_ACCESS_READ);
}

/* A permutation of nothing. */
static dynsel_status set_no_source(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, mapped,
                            mapped_make(inputs_make(world.a), inputs_make(world.map), 0), FEW,
                            DYNSEL_ACCESS_READ_WRITE);
}

static dynsel_status set_no_direct_source(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, reached_by,
                            reached_by_make(reached_make(world.a), inputs_make(world.map), 0), FEW,
                            DYNSEL_ACCESS_READ);
}

static dynsel_status set_no_source_inside(dynsel_handler *handler)
{
    const mapped inner = mapped_make(inputs_make(world.a), inputs_make(world.map), 0);
    return dynsel_set_range(handler, 0, mapped_again,
                            mapped_again_make(inner, inputs_make(world.map), FEW), FEW,
                            DYNSEL_ACCESS_READ);
}

static dynsel_status set_no_source_around(dynsel_handler *handler)
{
    const mapped inner = mapped_make(inputs_make(world.a), inputs_make(world.map), FEW);
    return dynsel_set_range(handler, 0, mapped_again,
                            mapped_again_make(inner, inputs_make(world.map), 0), FEW,
                            DYNSEL_ACCESS_READ);
}

static dynsel_status set_short(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, backwards, backwards_make(inputs_make(world.a), FEW - 1),
                            FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status set_short_inside(dynsel_handler *handler)
{
    return dynsel_set_range(
        handler, 0, backwards_twice,
        backwards_twice_make(backwards_make(inputs_make(world.a), FEW), FEW + 1), FEW,
        DYNSEL_ACCESS_READ);
}

static dynsel_status set_endless(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, inputs, inputs_make(world.a), UINT64_MAX,
                            DYNSEL_ACCESS_READ);
}

static dynsel_status set_overflowing(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, wide_ones, wide_ones_make((wide *)(void *)world.a),
                            (uint64_t)PTRDIFF_MAX / sizeof(wide) + 1, DYNSEL_ACCESS_READ);
}

static dynsel_status set_wrapping(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, wide_ones, wide_ones_make((wide *)(void *)world.a),
                            SIZE_MAX / sizeof(wide) + 2, DYNSEL_ACCESS_READ);
}

static dynsel_status set_no_mode(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, inputs, inputs_make(world.a), FEW,
                            (dynsel_access_mode)(DYNSEL_ACCESS_ATOMIC + 1));
}

static dynsel_status set_too_high(dynsel_handler *handler)
{
    return dynsel_set_range(handler, CONFIG_DYNSEL_MAX_ARGUMENTS - 1, mapped,
                            mapped_make(inputs_make(world.a), inputs_make(world.map), FEW), FEW,
                            DYNSEL_ACCESS_READ);
}

static dynsel_status set_too_many(dynsel_handler *handler)
{
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i <= CONFIG_DYNSEL_MAX_STAGED && status == DYNSEL_OK; i++) {
        status =
            dynsel_set_range(handler, i, inputs, inputs_make(world.a), FEW, DYNSEL_ACCESS_READ);
    }
    return status;
}

static void wrong_ranges_are_refused(void **state)
{
    (void)state;
    assert_refused(set_null, DYNSEL_E_INVALID, "inputs");
    assert_refused(set_null, DYNSEL_E_INVALID, "its pointer is NULL, and should point to 16 bytes");
    assert_refused(set_null_direct, DYNSEL_E_INVALID, "its pointer is NULL");
    assert_refused(set_null_source, DYNSEL_E_INVALID, "should point to 4 bytes");
    assert_refused(set_no_source, DYNSEL_E_INVALID,
                   "a permutation of it has the count 0, and the range has 4 elements");
    assert_refused(set_no_source, DYNSEL_E_INVALID, "inputs");
    assert_refused(set_no_direct_source, DYNSEL_E_INVALID, "has the count 0");
    assert_refused(set_no_source_inside, DYNSEL_E_INVALID, "has the count 0");
    assert_refused(set_no_source_around, DYNSEL_E_INVALID, "has the count 0");
    assert_refused(set_short, DYNSEL_E_INVALID, "it is good for 3 elements");
    assert_refused(set_short, DYNSEL_E_INVALID, "backwards");
    assert_refused(set_short_inside, DYNSEL_E_INVALID, "it is good for 4 elements");
    assert_refused(set_endless, DYNSEL_E_INVALID, "more bytes than an object can have");
    assert_refused(set_overflowing, DYNSEL_E_INVALID, "more bytes than an object can have");
    assert_refused(set_wrapping, DYNSEL_E_INVALID, "more bytes than an object can have");
    assert_refused(set_no_mode, DYNSEL_E_INVALID, "mode");
    assert_refused(set_too_high, DYNSEL_E_FULL, "CONFIG_DYNSEL_MAX_ARGUMENTS");
    if (CONFIG_DYNSEL_MAX_STAGED < CONFIG_DYNSEL_MAX_ARGUMENTS) {
        assert_refused(set_too_many, DYNSEL_E_FULL, "CONFIG_DYNSEL_MAX_STAGED");
    }
}

static void set_range_outside_group_function_is_refused(void **state)
{
    static const dynsel_leaf_place place = DYNSEL_WHOLE_ITERATOR(inputs);
    const inputs it = {world.a};
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_set_range_leaves(NULL, 0, inputs_leaves, &place, &it, 1,
                                                            DYNSEL_ACCESS_READ));
}

/* 0 elements: no pointer is needed, and nothing moves. */
static dynsel_status set_empty(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, inputs, inputs_make(NULL), 0, DYNSEL_ACCESS_READ_WRITE);
}

/* Also where an iterator has a number of its own. */
static dynsel_status set_empty_mapped(dynsel_handler *handler)
{
    const mapped it = mapped_make(inputs_make(world.a), inputs_make(NULL), RANGE_ELEMENTS);
    return dynsel_set_range(handler, 0, mapped_backwards, mapped_backwards_make(it, 3), 0,
                            DYNSEL_ACCESS_READ_WRITE);
}

/* Of an empty range nothing is used, so a permutation may be of nothing; the same of a part of
 * which the iterator says that nothing is used. */
static dynsel_status set_empty_of_nothing(dynsel_handler *handler)
{
    const mapped none = mapped_make(inputs_make(NULL), inputs_make(NULL), 0);
    return dynsel_set_range(handler, 0, mapped, none, 0, DYNSEL_ACCESS_READ_WRITE);
}

static dynsel_status set_empty_table(dynsel_handler *handler)
{
    const with_table it = {inputs_make(world.a),
                           mapped_make(inputs_make(NULL), inputs_make(NULL), 0), 0};
    return dynsel_set_range(handler, 0, with_table, it, FEW, DYNSEL_ACCESS_READ);
}

static void empty_permutation_source_is_accepted_for_empty_range(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, try_on(DEVICE, set_empty_of_nothing));
    assert_status(DYNSEL_OK, try_on(HOST, set_empty_of_nothing));
    assert_int_equal(0, sim.counts.brought + sim.counts.written_back);
    assert_status(DYNSEL_OK, try_on(DEVICE, set_empty_table));
    assert_status(DYNSEL_OK, try_on(HOST, set_empty_table));
    assert_int_equal(FEW * sizeof(int), sim.counts.bytes_in);
}

static void empty_range_stages_nothing(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, try_on(DEVICE, set_empty));
    assert_status(DYNSEL_OK, try_on(HOST, set_empty));
    assert_status(DYNSEL_OK, try_on(DEVICE, set_empty_mapped));
    assert_int_equal(0, sim.counts.brought + sim.counts.written_back);
    assert_int_equal(2, sim.counts.launched);
}

static dynsel_status set_on_the_host(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, on_the_host, on_the_host_make(inputs_make(world.a)), FEW,
                            DYNSEL_ACCESS_READ);
}

static void range_with_host_function_runs_on_host_only(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_UNSUPPORTED, try_on(DEVICE, set_on_the_host));
    assert_error_says("host_square");
    assert_error_says("has no form in OpenCL C");
    assert_status(DYNSEL_OK, try_on(HOST, set_on_the_host));
    for (unsigned i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, try_with(&both.policy, set_on_the_host));
    }
    assert_int_equal(0, sim.counts.launched);
}

/* What was promised to be reached, and is not. */
static dynsel_status set_out_of_reach(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, reached, reached_make(world.a), FEW, DYNSEL_ACCESS_READ);
}

static void host_iterator_on_device_without_sharing_is_refused(void **state)
{
    (void)state;
    sim.devices[DEVICE].sharing = DYNSEL_SHARES_NOTHING;
    assert_status(DYNSEL_E_INVALID, try_on(DEVICE, set_out_of_reach));
    assert_error_says("argument 0");
    assert_error_says("DYNSEL_HOST_ITERATOR");
    assert_status(DYNSEL_OK, try_on(HOST, set_out_of_reach));
    assert_int_equal(0, sim.counts.launched);
}

/* Nothing is there: what is refused is not looked at, nor what the host does nothing with. */
static dynsel_status set_too_large(dynsel_handler *handler)
{
    return dynsel_set_range(handler, 0, inputs, inputs_make(world.a),
                            (uint64_t)CONFIG_DYNSEL_STAGING_BYTES / sizeof(int) + 1,
                            DYNSEL_ACCESS_READ);
}

/* Each alone would fit. */
static dynsel_status set_too_large_together(dynsel_handler *handler)
{
    const uint64_t half = (uint64_t)CONFIG_DYNSEL_STAGING_BYTES / sizeof(int) / 2 + 1;
    return dynsel_set_range(handler, 0, mapped,
                            mapped_make(inputs_make(world.a), inputs_make(world.map), half), half,
                            DYNSEL_ACCESS_READ);
}

static void range_beyond_staging_bytes_is_refused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const set_fn set = i == 0 ? set_too_large : set_too_large_together;
        assert_status(DYNSEL_E_FULL, try_on(DEVICE, set));
        assert_error_says("CONFIG_DYNSEL_STAGING_BYTES");
        assert_status(DYNSEL_OK, try_on(HOST, set));
        assert_status(DYNSEL_OK, try_with(&both.policy, set));
        assert_status(DYNSEL_OK, try_with(&both.policy, set));
    }
    assert_int_equal(0, sim.counts.allocated);
    assert_int_equal(0, sim.counts.launched);
}

/* An argument that is set again */

static dynsel_status set_twice(dynsel_handler *handler)
{
    const int value = 5;
    dynsel_status status = dynsel_set_range(handler, 0, inputs, inputs_make(world.a), FEW,
                                            DYNSEL_ACCESS_DISCARD_WRITE);
    if (status == DYNSEL_OK) {
        status = dynsel_set_range(handler, 1, inputs, inputs_make(world.b), FEW,
                                  DYNSEL_ACCESS_DISCARD_WRITE);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg(handler, 0, value);
    }
    return status == DYNSEL_OK ? dynsel_set_range(handler, 1, inputs, inputs_make(world.map), FEW,
                                                  DYNSEL_ACCESS_READ)
                               : status;
}

static void replaced_range_is_not_copied_back(void **state)
{
    range_world as_it_was = world;
    (void)state;
    assert_status(DYNSEL_OK, try_on(DEVICE, set_twice));
    assert_memory_equal(&as_it_was, &world, sizeof world);
    assert_int_equal(FEW * sizeof(int), sim.counts.bytes_in);
    assert_int_equal(0, sim.counts.bytes_out);
}

/* Faults */

static dynsel_status play(const range_job *work)
{
    range_job copy = *work;
    return dynsel_submit_command_group_and_wait(&places[DEVICE].policy, range_record, &copy);
}

/* The n-th operation fails; false: there were not so many. */
static bool fail_at(unsigned n, bool late, const range_case *what)
{
    static range_world as_it_was;
    const unsigned kinds = (late ? 0u : (unsigned)SIMULATED_ALLOCATE) | SIMULATED_BRING |
                           SIMULATED_LAUNCH | SIMULATED_WRITE_BACK;
    const range_job work = {what, &world};
    range_fill(&world, 7);
    range_fill(&as_it_was, 7);
    simulated_fail(&sim, kinds, n, late, DYNSEL_E_DEVICE);
    const dynsel_status status = play(&work);
    const bool failed = sim.failing_in == 0;
    simulated_fail(&sim, kinds, 0, false, DYNSEL_OK);
    if (failed) {
        assert_true(status == DYNSEL_E_DEVICE || status == DYNSEL_E_DEPENDENCY);
        assert_memory_equal(&as_it_was, &world, offsetof(range_world, out));
    } else {
        assert_status(DYNSEL_OK, status);
        assert_true(range_is_right(&work, 7));
    }
    put_in_service(&places[DEVICE].policy, 0);
    assert_true(dynsel_invariants_hold(&places[DEVICE].policy));
    /* and the next is as if nothing had been */
    range_fill(&world, 8);
    assert_status(DYNSEL_OK, play(&work));
    assert_true(range_is_right(&work, 8));
    return failed;
}

static void fail_at_each_step(bool in_order, simulated_pace pace, bool prepares)
{
    sim.devices[DEVICE].in_order = in_order;
    place_is_another(DEVICE);
    sim.devices[DEVICE].pace = pace;
    sim.devices[DEVICE].polls = 2;
    sim.devices[DEVICE].prepares = prepares;
    for (size_t i = 0; i < RANGE_CASES; i++) {
        for (unsigned late = 0; late < 2; late++) {
            for (unsigned n = 1; fail_at(n, late != 0, &range_cases[i]); n++) {
            }
        }
    }
}

static void fault_at_each_step_leaks_nothing(void **state)
{
    (void)state;
    for (unsigned pace = SIMULATED_AT_ONCE; pace <= SIMULATED_WHEN_POLLED; pace++) {
        fail_at_each_step(true, (simulated_pace)pace, false);
        fail_at_each_step(false, (simulated_pace)pace, true);
    }
}

/* With new staging memory each time, so that its making fails too. */
static void fault_with_new_staging_memory_leaks_nothing(void **state)
{
    unsigned steps = 0;
    for (unsigned n = 1, goes_on = 1; goes_on != 0; n++, steps++) {
        const unsigned kinds =
            SIMULATED_ALLOCATE | SIMULATED_BRING | SIMULATED_LAUNCH | SIMULATED_WRITE_BACK;
        const range_job work = {&range_cases[RANGE_CASES - 3], &world};
        range_fill(&world, 9);
        simulated_fail(&sim, kinds, n, false, DYNSEL_E_DEVICE);
        const dynsel_status status = play(&work);
        goes_on = sim.failing_in == 0;
        assert_int_equal(goes_on != 0 ? DYNSEL_E_DEVICE : DYNSEL_OK, status);
        simulated_fail(&sim, kinds, 0, false, DYNSEL_OK);
        (void)tear_down(state); /* nothing is left of it */
        (void)set_up(state);
    }
    assert_true(steps > 8);
}

/* With a buffer beside it, whose data are on their way or not. */
static dynsel_status record_beside_buffer(dynsel_handler *handler, void *args)
{
    const dynsel_buffer *buffer = args;
    dynsel_accessor data;
    dynsel_status status =
        dynsel_get_access(handler, *buffer, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_range(handler, 1, inputs, inputs_make(world.a), RANGE_ELEMENTS,
                                  DYNSEL_ACCESS_READ_WRITE);
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &nothing, DYNSEL_RANGE(FEW), NULL, NULL)
               : status;
}

static void fault_in_range_keeps_buffer_consistent(void **state)
{
    for (unsigned n = 1, goes_on = 1; goes_on != 0; n++) {
        const unsigned kinds =
            SIMULATED_ALLOCATE | SIMULATED_BRING | SIMULATED_LAUNCH | SIMULATED_WRITE_BACK;
        int32_t data[ELEMENTS] = {0};
        dynsel_buffer buffer = new_buffer(data);
        simulated_fail(&sim, kinds, n, false, DYNSEL_E_DEVICE);
        const dynsel_status status = dynsel_submit_command_group_and_wait(
            &places[DEVICE].policy, record_beside_buffer, &buffer);
        goes_on = sim.failing_in == 0;
        assert_int_equal(goes_on != 0 ? DYNSEL_E_DEVICE : DYNSEL_OK, status);
        simulated_fail(&sim, kinds, 0, false, DYNSEL_OK);
        places_check();
        put_in_service(&places[DEVICE].policy, 0);
        const job add = add_to(buffer, 5);
        assert_status(DYNSEL_OK, run_job(DEVICE, &add));
        end_buffer(&buffer, data, 5, 0);
        (void)tear_down(state);
        (void)set_up(state);
    }
}

/* No room on the device */

static void idle_staging_memory_is_evicted_for_other_data(void **state)
{
    const range_job large = {&range_cases[0], &world};
    const range_job small = {&range_cases[5], &world};
    const size_t bytes = 2 * ((RANGE_ELEMENTS * sizeof(int) + 63) / 64 * 64);
    (void)state;
    sim.limits[1] = bytes;
    assert_status(DYNSEL_OK, play(&large));
    assert_status(DYNSEL_OK, play(&small)); /* in what is kept */
    assert_status(DYNSEL_OK, play(&large));
    static int32_t data[ELEMENTS];
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 3);
    assert_status(DYNSEL_OK, run_job(DEVICE, &set));
    assert_true(sim.counts.released > 0);
    end_buffer(&buffer, data, 3, 1);
    range_fill(&world, 2);
    assert_status(DYNSEL_OK, play(&large));
    assert_true(range_is_right(&large, 2));
}

static void staging_on_full_device_returns_full(void **state)
{
    const range_job work = {&range_cases[0], &world};
    range_world as_it_was = {.reached = NULL};
    (void)state;
    range_fill(&world, 2);
    range_fill(&as_it_was, 2);
    sim.limits[1] = 128; /* for one of two */
    assert_status(DYNSEL_E_FULL, play(&work));
    assert_error_says("the device's memory is full");
    assert_memory_equal(&as_it_was, &world, sizeof world);
    sim.limits[1] = 256;
    assert_status(DYNSEL_OK, play(&work));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wrong_ranges_are_refused),
        TEST(set_range_outside_group_function_is_refused),
        TEST(empty_range_stages_nothing),
        TEST(empty_permutation_source_is_accepted_for_empty_range),
        TEST(range_with_host_function_runs_on_host_only),
        TEST(host_iterator_on_device_without_sharing_is_refused),
        TEST(range_beyond_staging_bytes_is_refused),
        TEST(replaced_range_is_not_copied_back),
        TEST(fault_at_each_step_leaks_nothing),
        TEST(fault_with_new_staging_memory_leaks_nothing),
        TEST(fault_in_range_keeps_buffer_consistent),
        TEST(idle_staging_memory_is_evicted_for_other_data),
        TEST(staging_on_full_device_returns_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
