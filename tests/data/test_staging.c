/* SPDX-License-Identifier: Apache-2.0 */
/* Staging memory: its owner, its next user, and its release. */
#include "support/places_fixture.h"
#include "support/range_types.h"

#include <string.h>

#include "groups/group.h"
#include "port/thread.h"
#include "room.h"
#include "submission/slot.h"

enum {
    DEVICE = 0,
    OTHER = 1,
    HALF_OF_ALL = CONFIG_DYNSEL_STAGING_COUNT / 2,
    SMALL = 8,
    LARGE = 1024, /* elements: much more than what is kept for few is used for */
    GRAIN = 64    /* bytes */
};

static int elements[2][LARGE];

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    memset(elements, 0, sizeof elements);
    return 0;
}

/* Adds 1 to all elements of its ranges. */
static dynsel_status add_form(const dynsel_launch *launch)
{
    const size_t count = launch->global.size[0];
    for (size_t k = 0; k < launch->argument_count; k++) {
        int *const data = dynsel_launch_data(launch, k);
        for (size_t i = 0; i < count; i++) {
            data[i]++;
        }
    }
    return DYNSEL_OK;
}

static const dynsel_kernel add = {.name = "add", .function = add_form};

/* So many ranges, each of `count` elements behind the one before. */
typedef struct work {
    uint32_t ranges;
    size_t count;
    int *data;
} work;

static uint32_t last_token; /* + 1 */

static dynsel_status record(dynsel_handler *handler, void *args)
{
    last_token = handler->uses->token;
    const work *const what = args;
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < what->ranges && status == DYNSEL_OK; i++) {
        status = dynsel_set_range(handler, i, inputs, inputs_make(what->data + i * what->count),
                                  what->count, DYNSEL_ACCESS_READ_WRITE);
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(what->count), NULL, NULL)
               : status;
}

static void send(unsigned place, work what, dynsel_submission *submission)
{
    *submission = (dynsel_submission){.policy = NULL};
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&places[place].policy, record, &what, submission));
}

static void run_with(dynsel_policy *policy, work what)
{
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, record, &what));
}

static void run(unsigned place, work what)
{
    run_with(&places[place].policy, what);
}

static void check_all(const int *data, size_t count, int value)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(value, data[i]);
    }
}

static void staging_memory_is_reused_down_to_quarter_of_its_size(void **state)
{
    (void)state;
    run(DEVICE, (work){1, LARGE, elements[0]});
    run(DEVICE, (work){1, LARGE / 4, elements[0]});
    assert_int_equal(1, sim.counts.allocated);
    run(DEVICE, (work){1, LARGE / 4 - GRAIN / sizeof(int), elements[0]});
    assert_int_equal(2, sim.counts.allocated);
    run(DEVICE, (work){1, SMALL, elements[0]});
    assert_int_equal(3, sim.counts.allocated);
    check_all(elements[0], SMALL, 4);
}

/* Together with what is there, only the rest is new. */
static void kept_staging_memory_is_used_beside_new(void **state)
{
    (void)state;
    run(DEVICE, (work){1, SMALL, elements[0]});
    run(DEVICE, (work){3, SMALL, elements[0]});
    assert_int_equal(3, sim.counts.allocated);
    run(DEVICE, (work){2, SMALL, elements[0]});
    assert_int_equal(3, sim.counts.allocated);
    assert_int_equal(0, sim.counts.released);
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* The device may use it for ever. */
static void staging_memory_of_work_that_was_given_up_is_not_used_again(void **state)
{
    enum { ALL = CONFIG_DYNSEL_STAGING_COUNT };
    dynsel_submission submission;
    (void)state;
    NEEDS(ALL <= CONFIG_DYNSEL_MAX_STAGED && ALL <= CONFIG_DYNSEL_MAX_ARGUMENTS);
    sim.devices[OTHER].domain = sim.devices[DEVICE].domain;
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    sim.wait_sleeps = true;
    send(DEVICE, (work){2, SMALL, elements[0]}, &submission);
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&places[DEVICE].policy, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
    run(OTHER, (work){2, SMALL, elements[1]});
    assert_int_equal(4, sim.counts.allocated);
    assert_int_equal(2, simulated_kept(&sim));
    run(OTHER, (work){ALL, SMALL, elements[1]}); /* their places are free */
    assert_int_equal(2 + ALL, sim.counts.allocated);
    check_all(elements[1], (size_t)2 * SMALL, 2);
}
#endif

typedef struct fill_work {
    int *data;
} fill_work;

static dynsel_status record_fill(dynsel_handler *handler, void *args)
{
    const fill_work *const what = args;
    const dynsel_status status = dynsel_set_range(handler, 0, inputs, inputs_make(what->data),
                                                  SMALL, DYNSEL_ACCESS_DISCARD_WRITE);
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(SMALL), NULL, NULL)
                               : status;
}

/* Where devices want that, and nothing is copied into it. */
static void new_staging_memory_is_prepared_once(void **state)
{
    fill_work what = {elements[0]};
    (void)state;
    sim.devices[DEVICE].prepares = true;
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&places[DEVICE].policy,
                                                                      record_fill, &what));
        assert_int_equal(1, sim.counts.brought);
    }
    assert_int_equal(0, sim.counts.bytes_in);
}

static dynsel_status record_two_fills(dynsel_handler *handler, void *args)
{
    (void)dynsel_set_range(handler, 1, inputs, inputs_make(elements[1]), SMALL,
                           DYNSEL_ACCESS_DISCARD_WRITE);
    return record_fill(handler, args);
}

/* The start that allocated it failed before that. */
static void staging_memory_of_failed_start_is_prepared_later(void **state)
{
    fill_work what = {elements[0]};
    (void)state;
    sim.devices[DEVICE].prepares = true;
    simulated_fail(&sim, SIMULATED_ALLOCATE, 2, false, DYNSEL_E_DEVICE);
    assert_status(DYNSEL_E_DEVICE, dynsel_submit_command_group_and_wait(&places[DEVICE].policy,
                                                                        record_two_fills, &what));
    assert_int_equal(1, sim.counts.allocated);
    assert_int_equal(0, sim.counts.brought);
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&places[DEVICE].policy,
                                                                      record_fill, &what));
        assert_int_equal(1, sim.counts.allocated);
        assert_int_equal(1, sim.counts.brought);
    }
}

/* The smallest that is large enough. */
static void smallest_sufficient_staging_memory_is_taken(void **state)
{
    dynsel_submission submissions[2];
    (void)state;
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    send(DEVICE, (work){1, LARGE, elements[0]}, &submissions[0]);
    send(DEVICE, (work){1, LARGE / 2, elements[1]}, &submissions[1]);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    send(DEVICE, (work){1, LARGE / 2, elements[1]}, &submissions[1]);
    send(DEVICE, (work){1, LARGE, elements[0]}, &submissions[0]);
    assert_int_equal(2, sim.counts.allocated);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
}

/* More than there is place for in the table: what was taken longest ago goes first. */
static void full_staging_table_evicts_least_recently_taken(void **state)
{
    enum { RANGES = 5, MORE = RANGES * SIMULATED_DEVICES - CONFIG_DYNSEL_STAGING_COUNT };
    (void)state;
    NEEDS(MORE > 0 && MORE <= RANGES);
    for (unsigned place = 0; place < SIMULATED_DEVICES; place++) {
        run(place, (work){RANGES, SMALL, elements[0]});
    }
    assert_int_equal(RANGES * SIMULATED_DEVICES, sim.counts.allocated);
    assert_int_equal(MORE, sim.counts.released);
    for (unsigned place = SIMULATED_DEVICES - 1; place > 0; place--) {
        run(place, (work){RANGES, SMALL, elements[0]});
    }
    assert_int_equal(MORE, sim.counts.released);
    run(0, (work){RANGES, SMALL, elements[0]});
    assert_int_equal(2 * MORE, sim.counts.released);
    run(1, (work){RANGES, SMALL, elements[0]}); /* used since the others */
    assert_int_equal(2 * MORE, sim.counts.released);
    check_all(elements[0], (size_t)SMALL * RANGES, 2 * SIMULATED_DEVICES + 1);
}

/* Where all that is kept is too large to be used, it makes way. Where there may be more than the
 * simulated devices have, other configurations do this. */
static void oversized_idle_staging_memory_is_evicted(void **state)
{
    enum {
        BYTES_OF_ALL = CONFIG_DYNSEL_STAGING_BYTES / (8 * GRAIN) * (8 * GRAIN),
        FITS = BYTES_OF_ALL < SIMULATED_POOL_BYTES / 4 && BYTES_OF_ALL >= 4096,
        COUNT = FITS ? BYTES_OF_ALL / 4 : 64,
        PART = COUNT / 8
    };
    static int data[COUNT];
    (void)state;
    NEEDS(FITS);
    memset(data, 0, sizeof data);
    run(DEVICE, (work){2, COUNT / 2, data});
    assert_int_equal(BYTES_OF_ALL, sim.used[1]);
    run(DEVICE, (work){5, PART, data}); /* two of them find what is kept */
    assert_true(sim.used[1] <= BYTES_OF_ALL);
    run(DEVICE, (work){5, PART, data});
    check_all(data, (size_t)5 * PART, 3);
    check_all(&data[(size_t)5 * PART], COUNT - (size_t)5 * PART, 1);
    run(DEVICE, (work){1, COUNT, data});
    assert_int_equal(BYTES_OF_ALL, sim.used[1]);
}

/* To the last byte. */
static void kept_staging_memory_leaves_room_to_last_byte(void **state)
{
    enum {
        BYTES_OF_ALL = CONFIG_DYNSEL_STAGING_BYTES / (8 * GRAIN) * (8 * GRAIN),
        FITS = BYTES_OF_ALL < SIMULATED_POOL_BYTES / 4 && BYTES_OF_ALL >= 4096 &&
               CONFIG_DYNSEL_STAGING_BYTES % (8 * GRAIN) == 0,
        COUNT = FITS ? BYTES_OF_ALL / 4 : 64
    };
    static int data[COUNT];
    (void)state;
    NEEDS(FITS);
    run(DEVICE, (work){1, COUNT / 2, data});
    run(DEVICE, (work){2, COUNT / 2, data});
    assert_int_equal(2, sim.counts.allocated);
    assert_int_equal(0, sim.counts.released);
}

/* A start that does not take place gives back what was taken for it. */
static void postponed_start_returns_its_staging_memory(void **state)
{
    dynsel_submission submission;
    (void)state;
    NEEDS(HALF_OF_ALL <= CONFIG_DYNSEL_MAX_STAGED && HALF_OF_ALL <= CONFIG_DYNSEL_MAX_ARGUMENTS);
    atomic_store(&sim.devices[DEVICE].full_for, 4);
    send(DEVICE, (work){HALF_OF_ALL, SMALL, elements[0]}, &submission);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(HALF_OF_ALL, sim.counts.allocated);
    check_all(elements[0], SMALL, 1);
}

static void policy_deinit_releases_its_staging_memory(void **state)
{
    static dynsel_fixed_resource_policy policies[2];
    (void)state;
    memset(policies, 0, sizeof policies);
    for (unsigned i = 0; i < 2; i++) {
        const dynsel_resource resource = simulated_resource(&sim, i);
        const dynsel_options options = {.resources = &resource, .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policies[i], &options, 0));
        run_with(&policies[i].policy, (work){1, SMALL, elements[0]});
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policies[0].policy));
    assert_int_equal(1, sim.counts.released);
    run_with(&policies[1].policy, (work){1, SMALL, elements[0]});
    assert_int_equal(2, sim.counts.allocated);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policies[1].policy));
    assert_int_equal(2, sim.counts.released);
}

/* Numbers of work that come round */

/* The next work of this thread gets it, as if the slot had been used as often as there are. */
static void bring_round(uint32_t remembered)
{
    const uint32_t token = remembered - 1;
    const uint32_t index = dynsel_slot_number_in(token) - 1;
    assert_int_equal(DYNSEL_SLOT_FREE, dynsel_slot_state(dynsel_slots[index].word.value));
    dynsel_slots[index].word.value = dynsel_slot_generation(token) << DYNSEL_SLOT_GENERATION_SHIFT;
    dynsel_this_thread()->slot_cursor = index;
}

static void reused_token_owns_no_staging_memory(void **state)
{
    dynsel_submission submissions[2];
    uint32_t tokens[2];
    const work half = {HALF_OF_ALL, SMALL, elements[0]};
    (void)state;
    NEEDS(HALF_OF_ALL <= CONFIG_DYNSEL_MAX_STAGED && HALF_OF_ALL <= CONFIG_DYNSEL_MAX_ARGUMENTS);
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    for (unsigned i = 0; i < 2; i++) {
        send(DEVICE, half, &submissions[i]);
        tokens[i] = last_token;
    }
    assert_int_equal(2, sim.counts.launched);
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    for (unsigned i = 0; i < 2; i++) {
        bring_round(tokens[i]);
        send(DEVICE, half, &submissions[i]);
        assert_int_equal(tokens[i], last_token);
    }
    assert_int_equal(4, sim.counts.launched); /* there was room for both */
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    check_all(elements[0], SMALL, 4);
}

static void reused_token_keeps_staging_memory_of_others(void **state)
{
    dynsel_submission submissions[2];
    (void)state;
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    send(DEVICE, (work){1, LARGE, elements[0]}, &submissions[0]);
    const uint32_t token = last_token;
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    send(DEVICE, (work){1, SMALL, elements[0]}, &submissions[0]);
    bring_round(token);
    send(DEVICE, (work){1, SMALL, elements[1]}, &submissions[1]);
    assert_int_equal(token, last_token);
    assert_int_equal(3, sim.counts.allocated);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    check_all(elements[0], SMALL, 2);
    check_all(elements[1], SMALL, 1);
}

/* Whichever of those that have all places ends first. */
static void work_waiting_for_staging_takes_next_free_entries(void **state)
{
    (void)state;
    NEEDS(HALF_OF_ALL <= CONFIG_DYNSEL_MAX_STAGED && HALF_OF_ALL <= CONFIG_DYNSEL_MAX_ARGUMENTS &&
          CONFIG_DYNSEL_STAGING_COUNT % 2 == 0);
    for (unsigned first = 0; first < 2; first++) {
        dynsel_submission submissions[3];
        memset(elements, 0, sizeof elements);
        for (unsigned i = 0; i < 2; i++) {
            sim.devices[i].pace = SIMULATED_BY_HAND;
            send(i, (work){HALF_OF_ALL, SMALL, elements[i]}, &submissions[i]);
        }
        const unsigned launched = sim.counts.launched;
        send(2, (work){HALF_OF_ALL, SMALL, elements[first]}, &submissions[2]);
        assert_int_equal(launched, sim.counts.launched);
        while (simulated_step(&sim, first)) {
        }
        dynsel_progress();
        assert_int_equal(launched + 1, sim.counts.launched);
        places_hurry();
        for (unsigned i = 0; i < 3; i++) {
            assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
        }
        check_all(elements[first], SMALL, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(staging_memory_is_reused_down_to_quarter_of_its_size),
        TEST(kept_staging_memory_is_used_beside_new),
#if CONFIG_DYNSEL_TIME_LIMITS
        TEST(staging_memory_of_work_that_was_given_up_is_not_used_again),
#endif
        TEST(new_staging_memory_is_prepared_once),
        TEST(staging_memory_of_failed_start_is_prepared_later),
        TEST(smallest_sufficient_staging_memory_is_taken),
        TEST(full_staging_table_evicts_least_recently_taken),
        TEST(oversized_idle_staging_memory_is_evicted),
        TEST(kept_staging_memory_leaves_room_to_last_byte),
        TEST(postponed_start_returns_its_staging_memory),
        TEST(policy_deinit_releases_its_staging_memory),
        TEST(reused_token_owns_no_staging_memory),
        TEST(reused_token_keeps_staging_memory_of_others),
        TEST(work_waiting_for_staging_takes_next_free_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
