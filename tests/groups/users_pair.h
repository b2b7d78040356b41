/* SPDX-License-Identifier: Apache-2.0 */
/* A header of a user's own: a pair of iterators, with a mark or without, and what is done with it,
 * which is the same for both. */
#ifndef DYNSEL_TESTS_MEMORY_USERS_PAIR_H
#define DYNSEL_TESTS_MEMORY_USERS_PAIR_H

#include "support/places.h"

DYNSEL_HOST_ITERATOR(samples, int);

typedef struct users_pair {
    samples first;
    samples second;
} users_pair;
DYNSEL_LEAVES(users_pair, DYNSEL_PART(samples, first) DYNSEL_PART(samples, second));
#if PAIR_IS_MARKED
DYNSEL_PASSED_DIRECTLY(users_pair, 1);
#endif

enum { PAIR_DEVICE = 0 };

static int pair_first[ELEMENTS];
static int pair_second[ELEMENTS];

static dynsel_status swap_form(const dynsel_launch *launch)
{
    const users_pair it = {samples_make(dynsel_launch_data(launch, 0)),
                           samples_make(dynsel_launch_data(launch, 1))};
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        const int first = samples_read(it.first, i);
        samples_write(it.first, i, samples_read(it.second, i));
        samples_write(it.second, i, first + 1);
    }
    return DYNSEL_OK;
}

static dynsel_status record_swap(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel swap = {.name = "swap", .function = swap_form};
    const users_pair it = {samples_make(pair_first), samples_make(pair_second)};
    (void)args;
    const dynsel_status status =
        dynsel_set_range(handler, 0, users_pair, it, ELEMENTS, DYNSEL_ACCESS_READ_WRITE);
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &swap, DYNSEL_RANGE(ELEMENTS), NULL, NULL)
               : status;
}

static void swap_on(unsigned place, dynsel_range_bytes *bytes)
{
    dynsel_submission submission = {.policy = NULL};
    for (int i = 0; i < ELEMENTS; i++) {
        pair_first[i] = i;
        pair_second[i] = -i;
    }
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&places[place].policy, record_swap, NULL,
                                                         &submission));
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, bytes));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    for (int i = 0; i < ELEMENTS; i++) {
        assert_int_equal(-i, pair_first[i]);
        assert_int_equal(i + 1, pair_second[i]);
    }
}

/* The mark decides what is moved, and nothing else does. */
static void mark_decides_what_is_moved(void **state)
{
    dynsel_range_bytes bytes;
    (void)state;
    places_begin(false);
    sim.devices[PAIR_DEVICE].sharing = DYNSEL_SHARES_ALL;
    swap_on(PAIR_DEVICE, &bytes);
    assert_int_equal(PAIR_IS_MARKED ? 0 : 2 * BYTES, bytes.staged_in);
    assert_int_equal(PAIR_IS_MARKED ? 0 : 2 * BYTES, bytes.staged_out);
    assert_int_equal(PAIR_IS_MARKED ? 2 * BYTES : 0, bytes.direct);
    assert_int_equal(PAIR_IS_MARKED ? 0 : 4 * BYTES, sim.counts.bytes_in + sim.counts.bytes_out);
    swap_on(HOST, &bytes);
    assert_int_equal(0, bytes.staged_in + bytes.staged_out);
    assert_int_equal(PAIR_IS_MARKED ? 2 * BYTES : 0, bytes.direct);
    places_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mark_decides_what_is_moved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
