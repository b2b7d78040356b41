/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that are set again, as ranges or otherwise: nothing is left of what was there. */
#include "random.h"
#include "support/places_fixture.h"
#include "support/range_cases.h"

#include <string.h>

enum { DEVICE = 0, FEW = 4, SLOTS = 7, LARGEST = 16 };

static const size_t INT_BYTES = sizeof(int);

static int host_square(int x)
{
    return x * x;
}

static int host_cube(int x)
{
    return x * x * x;
}

DYNSEL_HOST_TRANSFORM_ITERATOR(on_the_host, inputs, host_square, int);
DYNSEL_HOST_TRANSFORM_ITERATOR(also_on_the_host, inputs, host_cube, int);

/* A part without leaves, so that the function has no argument at all. */
typedef struct ones {
    char nothing;
} ones;
typedef int ones_value;

static void ones_leaves(dynsel_leaf_sink *sink, const dynsel_leaf_place *place)
{
    (void)sink;
    (void)place;
}

static inline int ones_read(ones iterator, size_t i)
{
    return (int)i + 1 + iterator.nothing;
}

DYNSEL_HOST_TRANSFORM_ITERATOR(only_a_function, ones, host_square, int);

static range_world world;

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    sim.devices[DEVICE].sharing = DYNSEL_SHARES_ALL;
    range_fill(&world, 1);
    return 0;
}

/* What the kernel was called with. */
static dynsel_launch launched;
static dynsel_argument arguments[SLOTS + 1];
static int first_elements[SLOTS + 1];
static _Alignas(uint64_t) unsigned char values[SLOTS + 1][LARGEST];

static dynsel_status look_form(const dynsel_launch *launch)
{
    launched = *launch;
    for (size_t i = 0; i < launch->argument_count && i <= SLOTS; i++) {
        const dynsel_argument *const argument = &launch->arguments[i];
        arguments[i] = *argument;
        if (argument->kind == DYNSEL_ARGUMENT_VALUE && argument->bytes <= LARGEST) {
            (void)memcpy(values[i], argument->value, argument->bytes);
        } else if (argument->kind == DYNSEL_ARGUMENT_DATA) {
            first_elements[i] = *(const int *)dynsel_launch_data(launch, i);
        }
    }
    return DYNSEL_OK;
}

static const dynsel_kernel look = {.name = "look", .function = look_form};

typedef dynsel_status (*set_fn)(dynsel_handler *handler);

typedef struct attempt {
    set_fn set;
} attempt;

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const attempt *const tried = args;
    const dynsel_status status = tried->set(handler);
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &look, DYNSEL_RANGE(FEW), NULL, NULL)
                               : status;
}

static dynsel_range_bytes try_on(unsigned place, set_fn set, dynsel_status expected)
{
    attempt tried = {set};
    dynsel_submission submission = {.policy = NULL};
    dynsel_range_bytes bytes = {.direct = 0};
    assert_status(expected,
                  dynsel_submit_command_group(&places[place].policy, record, &tried, &submission));
    if (expected == DYNSEL_OK) {
        assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    return bytes;
}

/* On the device; in, out, direct: in elements. */
static void check(set_fn set, size_t count, size_t in, size_t out, size_t direct)
{
    const dynsel_range_bytes bytes = try_on(DEVICE, set, DYNSEL_OK);
    assert_int_equal(count, launched.argument_count);
    assert_int_equal(in * INT_BYTES, bytes.staged_in);
    assert_int_equal(out * INT_BYTES, bytes.staged_out);
    assert_int_equal(direct * INT_BYTES, bytes.direct);
}

static dynsel_status set_inputs(dynsel_handler *handler, uint32_t index, int *data, size_t count,
                                dynsel_access_mode mode)
{
    return dynsel_set_range(handler, index, inputs, inputs_make(data), count, mode);
}

static dynsel_status set_reached(dynsel_handler *handler, uint32_t index, size_t count)
{
    return dynsel_set_range(handler, index, reached, reached_make(world.b), count,
                            DYNSEL_ACCESS_READ);
}

static dynsel_status set_mapped(dynsel_handler *handler, uint32_t index)
{
    return dynsel_set_range(handler, index, mapped,
                            mapped_make(inputs_make(world.a), inputs_make(world.map), 9), FEW,
                            DYNSEL_ACCESS_READ_WRITE);
}

static dynsel_status set_host(dynsel_handler *handler, uint32_t index)
{
    return dynsel_set_range(handler, index, on_the_host, on_the_host_make(inputs_make(world.a)),
                            FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status set_other_host(dynsel_handler *handler, uint32_t index)
{
    return dynsel_set_range(handler, index, also_on_the_host,
                            also_on_the_host_make(inputs_make(world.b)), FEW, DYNSEL_ACCESS_READ);
}

/* One by one */

static dynsel_status direct_twice(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_reached(handler, 0, 20));
    return set_reached(handler, 0, FEW);
}

static dynsel_status direct_then_staged(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_reached(handler, 0, 20));
    return set_inputs(handler, 0, world.a, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status staged_then_direct(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_inputs(handler, 0, world.a, FEW, DYNSEL_ACCESS_READ_WRITE));
    return set_reached(handler, 0, 20);
}

static dynsel_status direct_then_pointer(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_reached(handler, 0, 20));
    return dynsel_set_arg(handler, 0, world.b);
}

static dynsel_status pointer_then_direct(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, world.b));
    return set_reached(handler, 0, 20);
}

static dynsel_status direct_then_value(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_reached(handler, 0, 20));
    return dynsel_set_arg(handler, 0, 5);
}

static dynsel_status value_then_staged(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, 5));
    return set_inputs(handler, 0, world.a, FEW, DYNSEL_ACCESS_DISCARD_WRITE);
}

static dynsel_status larger_then_smaller(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_inputs(handler, 0, world.a, 20, DYNSEL_ACCESS_READ_WRITE));
    return set_inputs(handler, 0, world.b, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status two_arguments_then_one(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_mapped(handler, 0));
    return set_inputs(handler, 0, world.b, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status two_arguments_then_value(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_mapped(handler, 0));
    return dynsel_set_arg(handler, 0, 5);
}

static dynsel_status set_triples(dynsel_handler *handler, uint32_t index)
{
    return dynsel_set_range(handler, index, triples,
                            triples_make(squares_make(inputs_make(world.a)),
                                         backwards_make(inputs_make(world.b), FEW),
                                         numbers_make(1)),
                            FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status four_arguments_then_one(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_triples(handler, 0));
    return set_inputs(handler, 0, world.b, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status four_arguments_with_a_hole(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_triples(handler, 0));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 1, 5));
    return set_mapped(handler, 0);
}

static dynsel_status only_the_second_again(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_mapped(handler, 0));
    return set_reached(handler, 1, 20);
}

static dynsel_status moved_by_one(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_mapped(handler, 1));
    assert_status(DYNSEL_OK, set_mapped(handler, 0)); /* over the first argument of that */
    return DYNSEL_OK;
}

static dynsel_status local_in_place_of_staged(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_inputs(handler, 0, world.a, 20, DYNSEL_ACCESS_READ_WRITE));
    return dynsel_set_arg(handler, 0, DYNSEL_LOCAL(64));
}

static void argument_set_last_is_used(void **state)
{
    (void)state;
    check(direct_twice, 1, 0, 0, FEW);
    check(direct_then_staged, 1, FEW, 0, 0);
    check(staged_then_direct, 1, 0, 0, 20);
    check(direct_then_pointer, 1, 0, 0, 0);
    check(pointer_then_direct, 1, 0, 0, 20);
    check(direct_then_value, 1, 0, 0, 0);
    check(value_then_staged, 1, 0, FEW, 0);
    check(larger_then_smaller, 1, FEW, 0, 0);
    check(two_arguments_then_one, 1, FEW, 0, 0);
    check(two_arguments_then_value, 1, 0, 0, 0);
    check(four_arguments_then_one, 1, FEW, 0, 0);
    check(four_arguments_with_a_hole, 2, 9 + FEW, 9, 0);
    check(only_the_second_again, 2, 9, 9, 20);
    check(moved_by_one, 2, 9 + FEW, 9, 0);
    check(local_in_place_of_staged, 1, 0, 0, 0);
}

static void replaced_ranges_stage_nothing(void **state)
{
    (void)state;
    check(staged_then_direct, 1, 0, 0, 20);
    check(two_arguments_then_value, 1, 0, 0, 0);
    assert_int_equal(0, sim.counts.allocated);
    check(two_arguments_then_one, 1, FEW, 0, 0);
    assert_int_equal(1, sim.counts.allocated);
}

/* More often than there is room, if nothing came free. */
static dynsel_status again_and_again(dynsel_handler *handler)
{
    for (uint32_t i = 0; i <= CONFIG_DYNSEL_MAX_STAGED; i++) {
        assert_status(DYNSEL_OK, set_mapped(handler, 0));
        assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, (int)i));
        assert_status(DYNSEL_OK, set_inputs(handler, 1, world.b, FEW, DYNSEL_ACCESS_READ));
        assert_status(DYNSEL_OK, set_reached(handler, 1, FEW));
    }
    return DYNSEL_OK;
}

static dynsel_status values_again_and_again(dynsel_handler *handler)
{
    static const unsigned char bytes[CONFIG_DYNSEL_ARGUMENT_BYTES] = {1, 2};
    const size_t half =
        (size_t)(CONFIG_DYNSEL_ARGUMENT_BYTES / 32) * 16; /* as large values are aligned */
    for (uint32_t i = 0; i < CONFIG_DYNSEL_ARGUMENT_BYTES; i++) {
        const uint64_t number = i;
        assert_status(DYNSEL_OK, dynsel_set_arg(handler, 1, number));
        assert_status(DYNSEL_OK, set_reached(handler, 1, FEW));
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, bytes, half));
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, bytes, half - 8));
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, bytes, half));
    }
    const uint64_t last = 77;
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 1, last));
    return dynsel_set_arg_value(handler, 0, bytes, sizeof bytes - 16);
}

static void replaced_arguments_free_their_room(void **state)
{
    (void)state;
    check(again_and_again, 2, 0, 0, FEW);
    check(values_again_and_again, 2, 0, 0, 0);
    assert_int_equal(77, *(const uint64_t *)(const void *)values[1]);
}

static dynsel_status gap(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_mapped(handler, 0));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 2, 5));
    return set_inputs(handler, 0, world.a, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status gap_filled(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, gap(handler));
    return dynsel_set_arg(handler, 1, 6);
}

static void argument_missing_after_smaller_range_is_refused(void **state)
{
    (void)state;
    (void)try_on(DEVICE, gap, DYNSEL_E_INVALID);
    assert_error_says("argument 1 was not set");
    check(gap_filled, 3, FEW, 0, 0);
}

/* Functions of the host */

static dynsel_status host_then_other(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_host(handler, 0));
    return set_inputs(handler, 0, world.a, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status host_then_value(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_host(handler, 0));
    return dynsel_set_arg(handler, 0, 5);
}

static dynsel_status host_twice_then_other(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_host(handler, 0));
    assert_status(DYNSEL_OK, set_host(handler, 0));
    return set_reached(handler, 0, FEW);
}

static dynsel_status host_behind_another(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_host(handler, 1));
    return set_mapped(handler, 0);
}

static dynsel_status other_then_host(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_reached(handler, 0, FEW));
    return set_host(handler, 0);
}

static dynsel_status one_host_function_for_another(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_host(handler, 0));
    return set_other_host(handler, 0);
}

static dynsel_status one_host_function_of_two(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, set_host(handler, 0));
    assert_status(DYNSEL_OK, set_other_host(handler, 1));
    return set_reached(handler, 1, FEW);
}

static dynsel_status no_host_function_of_two(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, one_host_function_of_two(handler));
    return dynsel_set_arg(handler, 0, 5);
}

static dynsel_status function_without_arguments(dynsel_handler *handler)
{
    const ones all = {0};
    assert_status(DYNSEL_OK, dynsel_set_range(handler, 0, only_a_function,
                                              only_a_function_make(all), FEW, DYNSEL_ACCESS_READ));
    return host_then_value(handler);
}

static void replaced_host_function_does_not_bind_work_to_host(void **state)
{
    (void)state;
    check(host_then_other, 1, FEW, 0, 0);
    check(host_then_value, 1, 0, 0, 0);
    check(host_twice_then_other, 1, 0, 0, FEW);
    check(host_behind_another, 2, 9 + FEW, 9, 0);
    check(no_host_function_of_two, 2, 0, 0, FEW);
}

static void remaining_host_function_binds_work_to_host(void **state)
{
    (void)state;
    (void)try_on(DEVICE, other_then_host, DYNSEL_E_UNSUPPORTED);
    assert_error_says("host_square");
    (void)try_on(DEVICE, one_host_function_for_another, DYNSEL_E_UNSUPPORTED);
    assert_error_says("host_cube");
    (void)try_on(DEVICE, one_host_function_of_two, DYNSEL_E_UNSUPPORTED);
    assert_error_says("has no form in OpenCL C");
    (void)try_on(DEVICE, function_without_arguments, DYNSEL_E_UNSUPPORTED);
    assert_int_equal(0, sim.counts.launched);
    (void)try_on(HOST, one_host_function_of_two, DYNSEL_OK);
    (void)try_on(HOST, function_without_arguments, DYNSEL_OK);
}

/* Accessors */

static dynsel_buffer of_test;
static dynsel_accessor placeholder = {
    .mode = DYNSEL_ACCESS_READ, .target = DYNSEL_MEMORY_GLOBAL, .placeholder = true};

static dynsel_status accessor_then_range(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, &placeholder)); /* and never required */
    return set_inputs(handler, 0, world.a, FEW, DYNSEL_ACCESS_READ);
}

static dynsel_status range_then_accessor(dynsel_handler *handler)
{
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, of_test, &placeholder));
    assert_status(DYNSEL_OK, set_mapped(handler, 0));
    return dynsel_set_arg(handler, 0, &placeholder);
}

static void accessors_and_ranges_replace_each_other(void **state)
{
    static int32_t data[ELEMENTS];
    (void)state;
    for (size_t i = 0; i < ELEMENTS; i++) {
        data[i] = 7;
    }
    of_test = new_buffer(data);
    check(accessor_then_range, 1, FEW, 0, 0);
    assert_moved(of_test, 0, 0, 0);
    check(range_then_accessor, 1, 0, 0, 0);
    assert_moved(of_test, 1, 0, 0);
    assert_int_equal(7, first_elements[0]);
    end_buffer(&of_test, data, 7, 0);
}

/* Anything, in any order */

typedef enum thing {
    NOTHING,
    SHORT_VALUE,
    LONG_VALUE,
    POINTER,
    INPUTS,
    OUTPUTS,
    REACHED,
    MAPPED,
    BACKWARDS,
    PAIRS,
    NUMBERS,
    NOWHERE,
    ON_THE_HOST,
    THINGS
} thing;

/* What an argument should be. */
typedef struct known {
    thing of;
    uint32_t begin; /* where its range does */
    uint8_t kind;
    size_t value; /* bytes of one */
    size_t in, out, direct;
    const int *data; /* the first element that it should show; NULL: whatever */
} known;

typedef struct plan {
    uint32_t count;
    known slots[SLOTS];
    struct {
        thing what;
        uint32_t index;
    } steps[64];
    uint32_t step_count;
} plan;

static dynsel_status set_thing(dynsel_handler *handler, thing what, uint32_t index)
{
    const unsigned char bytes[LARGEST] = {(unsigned char)(index + 1)};
    switch (what) {
    case SHORT_VALUE:
        return dynsel_set_arg_value(handler, index, bytes, 4);
    case LONG_VALUE:
        return dynsel_set_arg_value(handler, index, bytes, LARGEST);
    case POINTER:
        return dynsel_set_arg(handler, index, world.b);
    case INPUTS:
        return set_inputs(handler, index, world.a, FEW, DYNSEL_ACCESS_READ);
    case OUTPUTS:
        return set_inputs(handler, index, world.out, FEW + 1, DYNSEL_ACCESS_DISCARD_WRITE);
    case REACHED:
        return set_reached(handler, index, FEW + 2);
    case MAPPED:
        return set_mapped(handler, index);
    case BACKWARDS:
        return dynsel_set_range(handler, index, backwards,
                                backwards_make(inputs_make(world.a), FEW + 3), FEW,
                                DYNSEL_ACCESS_READ);
    case PAIRS:
        return dynsel_set_range(handler, index, pairs,
                                pairs_make(inputs_make(world.a), reached_make(world.b)), FEW,
                                DYNSEL_ACCESS_READ);
    case NUMBERS:
        return dynsel_set_range(handler, index, numbers, numbers_make((int)index + 1), FEW,
                                DYNSEL_ACCESS_READ);
    case NOWHERE:
        return dynsel_set_range(handler, index, nowhere, nowhere_make(), FEW,
                                DYNSEL_ACCESS_DISCARD_WRITE);
    case ON_THE_HOST:
        return set_host(handler, index);
    case NOTHING:
    case THINGS:
    default:
        fail();
        return DYNSEL_E_INVALID;
    }
}

/* What it comes to, argument by argument. */
static uint32_t leaves_of(thing what, uint32_t index, known leaves[2])
{
    const known value = {
        .of = what, .begin = index, .kind = DYNSEL_ARGUMENT_VALUE, .value = sizeof(int)};
    const known staged = {
        .of = what, .begin = index, .kind = DYNSEL_ARGUMENT_DATA, .in = FEW, .data = world.a};
    const known direct = {
        .of = what, .begin = index, .kind = DYNSEL_ARGUMENT_POINTER, .direct = FEW};
    leaves[0] = staged;
    leaves[1] = value;
    switch (what) {
    case SHORT_VALUE:
    case NUMBERS:
        leaves[0] = value;
        return 1;
    case LONG_VALUE:
        leaves[0] = value;
        leaves[0].value = LARGEST;
        return 1;
    case POINTER:
    case REACHED:
        leaves[0] = direct;
        leaves[0].direct = what == POINTER ? 0 : FEW + 2;
        return 1;
    case OUTPUTS:
        leaves[0].in = 0;
        leaves[0].out = FEW + 1;
        leaves[0].data = NULL;
        return 1;
    case MAPPED:
        leaves[0].in = leaves[0].out = 9;
        leaves[1] = staged;
        leaves[1].data = world.map;
        return 2;
    case BACKWARDS:
        leaves[0].in = FEW + 3;
        leaves[1].value = sizeof(uint64_t);
        return 2;
    case PAIRS:
        leaves[1] = direct;
        return 2;
    case NOWHERE:
        return 0;
    case INPUTS:
    case ON_THE_HOST:
    case NOTHING:
    case THINGS:
    default:
        return 1;
    }
}

static void expect_argument(plan *of, uint32_t at, const known *leaf)
{
    for (uint32_t i = at + 1; i < of->count; i++) {
        if (of->slots[i].of != NOTHING && of->slots[i].begin == at) {
            of->slots[i] = (known){.of = NOTHING};
        }
    }
    of->slots[at] = *leaf;
    of->count = SLOTS;
    while (of->slots[of->count - 1].of == NOTHING) {
        of->count--;
    }
}

static void add_step(plan *of, thing what, uint32_t index)
{
    known leaves[2];
    const uint32_t count = leaves_of(what, index, leaves);
    if (index + count > SLOTS) {
        return;
    }
    of->steps[of->step_count].what = what;
    of->steps[of->step_count++].index = index;
    for (uint32_t i = 0; i < count; i++) {
        expect_argument(of, index + i, &leaves[i]);
    }
}

static void make_plan(plan *of, test_random *random)
{
    *of = (plan){.count = 0};
    const uint32_t steps = 1 + test_random_below(random, 24);
    for (uint32_t i = 0; i < steps; i++) {
        const thing what = (thing)(1 + test_random_below(random, THINGS - 1));
        add_step(of, what, test_random_below(random, SLOTS));
    }
    for (uint32_t i = 0; i < of->count; i++) {
        if (of->slots[i].of == NOTHING) {
            add_step(of, SHORT_VALUE, i);
        }
    }
}

static dynsel_status record_plan(dynsel_handler *handler, void *args)
{
    const plan *const of = args;
    for (uint32_t i = 0; i < of->step_count; i++) {
        assert_status(DYNSEL_OK, set_thing(handler, of->steps[i].what, of->steps[i].index));
    }
    return dynsel_parallel_for(handler, &look, DYNSEL_RANGE(FEW), NULL, NULL);
}

static bool stays_on_host(const plan *of)
{
    bool stays = false;
    for (uint32_t i = 0; i < of->count; i++) {
        stays = stays || of->slots[i].of == ON_THE_HOST;
    }
    return stays;
}

/* A range that goes backwards has its count, numbers the first of them, values bytes. */
static void check_value(const known *slot, uint32_t index)
{
    if (slot->of == BACKWARDS) {
        assert_int_equal(FEW + 3, *(const uint64_t *)(const void *)values[index]);
    } else if (slot->of == NUMBERS) {
        assert_int_equal(index + 1, *(const int *)(const void *)values[index]);
    } else {
        assert_int_equal(index + 1, values[index][0]);
    }
}

static void check_arguments(const plan *of)
{
    assert_int_equal(of->count, launched.argument_count);
    for (uint32_t i = 0; i < of->count; i++) {
        const known *const slot = &of->slots[i];
        assert_int_equal(slot->kind, arguments[i].kind);
        if (slot->kind == DYNSEL_ARGUMENT_VALUE) {
            assert_int_equal(slot->value, arguments[i].bytes);
            check_value(slot, i);
        } else if (slot->kind == DYNSEL_ARGUMENT_POINTER) {
            assert_int_equal(sizeof(void *), arguments[i].bytes);
            assert_ptr_equal(world.b, arguments[i].value);
        } else if (slot->data != NULL) {
            assert_int_equal(slot->data[0], first_elements[i]);
        }
    }
}

static void check_bytes(const plan *of, const dynsel_range_bytes *bytes, bool on_device)
{
    size_t in = 0;
    size_t out = 0;
    size_t direct = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        in += on_device ? of->slots[i].in : 0;
        out += on_device ? of->slots[i].out : 0;
        direct += of->slots[i].direct;
    }
    assert_int_equal(in * INT_BYTES, bytes->staged_in);
    assert_int_equal(out * INT_BYTES, bytes->staged_out);
    assert_int_equal(direct * INT_BYTES, bytes->direct);
}

static void play(plan *of, unsigned place)
{
    dynsel_submission submission = {.policy = NULL};
    dynsel_range_bytes bytes;
    const bool refused = place != HOST && stays_on_host(of);
    const dynsel_status status =
        dynsel_submit_command_group(&places[place].policy, record_plan, of, &submission);
    assert_status(refused ? DYNSEL_E_UNSUPPORTED : DYNSEL_OK, status);
    if (refused) {
        return;
    }
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    check_arguments(of);
    check_bytes(of, &bytes, place != HOST);
}

static void random_argument_replacements_agree_with_model(void **state)
{
    test_random random = {.state = test_seed()};
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        plan of;
        range_fill(&world, i);
        make_plan(&of, &random);
        if (of.count > 0) {
            play(&of, DEVICE);
            play(&of, HOST);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(argument_set_last_is_used),
        TEST(replaced_ranges_stage_nothing),
        TEST(replaced_arguments_free_their_room),
        TEST(argument_missing_after_smaller_range_is_refused),
        TEST(replaced_host_function_does_not_bind_work_to_host),
        TEST(remaining_host_function_binds_work_to_host),
        TEST(accessors_and_ranges_replace_each_other),
        TEST(random_argument_replacements_agree_with_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
