/* SPDX-License-Identifier: Apache-2.0 */
/* Random ranges on simulated devices and the host against plain C. DYNSEL_TEST_SEED repeats a
 * run. */
#include "random.h"
#include "support/places.h"
#include "support/range_types.h"

#include <string.h>

DYNSEL_PERMUTATION_ITERATOR(reversed_map, backwards, inputs);

enum { WORLDS = 6, NUMBERS = 64, STEPS = 400, PROGRAMS = 30, PENDING = 4, ANYWHERE = PLACES };

/* Room for all staging buffers that can be in use. */
enum { LITTLE = CONFIG_DYNSEL_STAGING_COUNT * NUMBERS * 4 };

/* Memory that one place at a time works on, and what should be in it when that is done. */
typedef struct world {
    int numbers[NUMBERS];
    int map[NUMBERS];
    int expected[NUMBERS];
    unsigned place; /* ANYWHERE: nothing is on its way */
    size_t pending;
    dynsel_submission submissions[PENDING];
    dynsel_range_bytes bytes[PENDING];
} world;

typedef enum change {
    ADD_ALL,    /* what stands there is read and written */
    FILL_ALL,   /* nothing of it is needed */
    SCATTER,    /* some of it is written, through a map */
    TURN_ROUND, /* as ADD_ALL, from behind */
    SCATTER_BACK,
    CHANGES
} change;

typedef struct step {
    world *of;
    change what;
    int value;
    size_t first;
    size_t count;
} step;

static world worlds[WORLDS];
static test_random dice;

static size_t below(size_t end)
{
    return test_random_below(&dice, (uint32_t)end);
}

static size_t items(const dynsel_launch *launch)
{
    return launch->global.size[0];
}

static dynsel_status add_all(const dynsel_launch *launch)
{
    const inputs it = inputs_make(launch->arguments[0].value);
    for (size_t i = 0; i < items(launch); i++) {
        inputs_write(it, i, inputs_read(it, i) + DYNSEL_LAUNCH_VALUE(launch, 1, int));
    }
    return DYNSEL_OK;
}

static dynsel_status fill_all(const dynsel_launch *launch)
{
    const inputs it = inputs_make(launch->arguments[0].value);
    for (size_t i = 0; i < items(launch); i++) {
        inputs_write(it, i, (int)i * DYNSEL_LAUNCH_VALUE(launch, 1, int));
    }
    return DYNSEL_OK;
}

static dynsel_status scatter(const dynsel_launch *launch)
{
    const mapped it = mapped_make(inputs_make(launch->arguments[0].value),
                                  inputs_make(launch->arguments[1].value), 0);
    for (size_t i = 0; i < items(launch); i++) {
        mapped_write(it, i, (int)i + DYNSEL_LAUNCH_VALUE(launch, 2, int));
    }
    return DYNSEL_OK;
}

/* Stays small, however often it is done. */
static int turned(int x, int value)
{
    return (x * 3 + value) % 100003;
}

static dynsel_status turn_round(const dynsel_launch *launch)
{
    const backwards it = backwards_make(inputs_make(launch->arguments[0].value),
                                        DYNSEL_LAUNCH_VALUE(launch, 1, uint64_t));
    for (size_t i = 0; i < items(launch); i++) {
        backwards_write(it, i, turned(backwards_read(it, i), DYNSEL_LAUNCH_VALUE(launch, 2, int)));
    }
    return DYNSEL_OK;
}

static dynsel_status scatter_back(const dynsel_launch *launch)
{
    const reversed_map it =
        reversed_map_make(backwards_make(inputs_make(launch->arguments[0].value),
                                         DYNSEL_LAUNCH_VALUE(launch, 1, uint64_t)),
                          inputs_make(launch->arguments[2].value), 0);
    for (size_t i = 0; i < items(launch); i++) {
        reversed_map_write(it, i, (int)i - DYNSEL_LAUNCH_VALUE(launch, 3, int));
    }
    return DYNSEL_OK;
}

static const dynsel_kernel kernels[CHANGES] = {
    [ADD_ALL] = {.name = "add_all", .function = add_all},
    [FILL_ALL] = {.name = "fill_all", .function = fill_all},
    [SCATTER] = {.name = "scatter", .function = scatter},
    [TURN_ROUND] = {.name = "turn_round", .function = turn_round},
    [SCATTER_BACK] = {.name = "scatter_back", .function = scatter_back},
};

/* How many arguments it took; 0: it failed. */
static uint32_t set_range_of(dynsel_handler *handler, const step *s)
{
    world *const w = s->of;
    const inputs from = inputs_make(w->numbers + s->first);
    const inputs all = inputs_make(w->numbers);
    const inputs map = inputs_make(w->map);
    dynsel_status status = DYNSEL_E_INVALID;
    uint32_t used = 1;
    switch (s->what) {
    case ADD_ALL:
    case FILL_ALL:
        status = dynsel_set_range(handler, 0, inputs, from, s->count,
                                  s->what == ADD_ALL ? DYNSEL_ACCESS_READ_WRITE
                                                     : DYNSEL_ACCESS_DISCARD_WRITE);
        break;
    case SCATTER:
        status = dynsel_set_range(handler, 0, mapped, mapped_make(all, map, NUMBERS), s->count,
                                  DYNSEL_ACCESS_WRITE);
        used = 2;
        break;
    case TURN_ROUND:
        status = dynsel_set_range(handler, 0, backwards, backwards_make(from, s->count), s->count,
                                  DYNSEL_ACCESS_READ_WRITE);
        used = 2;
        break;
    case SCATTER_BACK:
    case CHANGES:
    default:
        status = dynsel_set_range(handler, 0, reversed_map,
                                  reversed_map_make(backwards_make(all, NUMBERS), map, NUMBERS),
                                  s->count, DYNSEL_ACCESS_ATOMIC);
        used = 3;
        break;
    }
    return status == DYNSEL_OK ? used : 0;
}

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const step *s = args;
    const uint32_t next = set_range_of(handler, s);
    const dynsel_status status =
        next != 0 ? dynsel_set_arg(handler, next, s->value) : DYNSEL_E_INVALID;
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &kernels[s->what], DYNSEL_RANGE(s->count), NULL, NULL)
               : status;
}

/* In plain C. */
static void expect(const step *s)
{
    int *const numbers_ = s->of->expected;
    for (size_t i = 0; i < s->count; i++) {
        int *const at = numbers_ + s->first + i;
        switch (s->what) {
        case ADD_ALL:
            *at += s->value;
            break;
        case FILL_ALL:
            *at = (int)i * s->value;
            break;
        case SCATTER:
            numbers_[s->of->map[i]] = (int)i + s->value;
            break;
        case TURN_ROUND:
            *at = turned(*at, s->value);
            break;
        case SCATTER_BACK:
        case CHANGES:
        default:
            numbers_[NUMBERS - 1 - s->of->map[i]] = (int)i - s->value;
            break;
        }
    }
}

static dynsel_range_bytes bytes_of(const step *s, unsigned place)
{
    const uint64_t part = s->count * sizeof(int);
    const uint64_t all = NUMBERS * sizeof(int);
    dynsel_range_bytes bytes = {part, part, 0};
    if (place == HOST) {
        return (dynsel_range_bytes){0, 0, 0};
    }
    if (s->what == FILL_ALL) {
        bytes.staged_in = 0;
    } else if (s->what == SCATTER || s->what == SCATTER_BACK) {
        bytes = (dynsel_range_bytes){all + part, all, 0};
    }
    return bytes;
}

/* Once the work is complete, whoever waited for it, and before it is collected. */
static void check_bytes(const world *w, size_t i)
{
    dynsel_range_bytes bytes;
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&w->submissions[i], &bytes));
    assert_int_equal(w->bytes[i].staged_in, bytes.staged_in);
    assert_int_equal(w->bytes[i].staged_out, bytes.staged_out);
    assert_int_equal(w->bytes[i].direct, bytes.direct);
}

static void wait_for_world(world *w)
{
    if (w->pending != 0) {
        assert_status(DYNSEL_OK,
                      dynsel_wait_group(dynsel_get_submission_group(&places[w->place].policy)));
    }
    for (size_t i = 0; i < w->pending; i++) {
        check_bytes(w, i);
        assert_status(DYNSEL_OK, dynsel_wait(&w->submissions[i]));
    }
    w->pending = 0;
    w->place = ANYWHERE;
    assert_memory_equal(w->expected, w->numbers, sizeof w->numbers);
}

/* These devices refuse nothing, so that what waits for staging memory is not overtaken. */
static unsigned choose_place(world *w)
{
    const bool may_follow = w->place != ANYWHERE && w->pending < PENDING &&
                            (w->place == HOST || sim.devices[w->place].in_order);
    if (may_follow && below(3) != 0) {
        return w->place;
    }
    wait_for_world(w);
    return (unsigned)below(PLACES);
}

static void play_step(void)
{
    world *const w = &worlds[below(WORLDS)];
    const unsigned place = choose_place(w);
    step s = {.of = w, .what = (change)below(CHANGES), .value = (int)below(100)};
    s.first = below(NUMBERS);
    s.count = 1 + below(NUMBERS - s.first);
    if (s.what == SCATTER || s.what == SCATTER_BACK) {
        s.first = 0;
    }
    dynsel_submission *const submission = &w->submissions[w->pending];
    *submission = (dynsel_submission){.policy = NULL};
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&places[place].policy, record, &s, submission));
    w->bytes[w->pending++] = bytes_of(&s, place);
    w->place = place;
    expect(&s);
}

static void begin_program(void)
{
    places_begin(below(2) != 0);
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        simulated_device *const device = &sim.devices[i];
        device->in_order = below(3) != 0;
        device->prepares = below(2) != 0;
        device->moves_beside = below(2) != 0;
        device->pace = below(3) == 0 ? SIMULATED_AT_ONCE : SIMULATED_WHEN_POLLED;
        device->polls = (unsigned)below(5);
        sim.limits[i + 1] = below(3) == 0 ? LITTLE : SIMULATED_POOL_BYTES;
    }
    for (size_t i = 0; i < WORLDS; i++) {
        world *const w = &worlds[i];
        *w = (world){.place = ANYWHERE};
        for (size_t k = 0; k < NUMBERS; k++) {
            w->numbers[k] = w->expected[k] = (int)below(1000);
            w->map[k] = (int)below(NUMBERS);
        }
    }
}

static void random_ranges_agree_with_plain_c(void **state)
{
    (void)state;
    dice.state = test_seed();
    for (unsigned program = 0; program < PROGRAMS; program++) {
        begin_program();
        for (unsigned i = 0; i < STEPS; i++) {
            play_step();
        }
        for (size_t i = 0; i < WORLDS; i++) {
            wait_for_world(&worlds[i]);
        }
        places_hurry();
        places_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_ranges_agree_with_plain_c)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
