/* SPDX-License-Identifier: Apache-2.0 */
/* Host accessors of a part of a buffer. */
#include <dynsel/dynsel.h>

#include "data/pair.h"
#include "random.h"

static const dynsel_range whole = {.dimensions = 0};

static dynsel_status open_part(dynsel_host_accessor *accessor, dynsel_access_mode mode,
                               size_t count, size_t first)
{
    return dynsel_host_accessor_open_part(accessor, a, mode, DYNSEL_RANGE(count),
                                          DYNSEL_RANGE(first));
}

static void close_it(dynsel_host_accessor *accessor)
{
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(accessor));
    assert_null(accessor->data);
    assert_int_equal(0, accessor->bytes + accessor->row_pitch + accessor->slice_pitch);
}

static void part_begins_at_its_first_element(void **state)
{
    (void)state;
    dynsel_host_accessor part = {.data = NULL};
    run_on(0, set_all(a, 100));
    assert_status(DYNSEL_OK, open_part(&part, DYNSEL_ACCESS_READ, 5, 7));
    assert_true((int32_t *)part.data == numbers + 7);
    assert_int_equal(5 * sizeof numbers[0], part.bytes);
    assert_int_equal(107, *(const int32_t *)part.data);
    close_it(&part);
    assert_status(DYNSEL_OK,
                  dynsel_host_accessor_open_part(&part, a, DYNSEL_ACCESS_READ, whole, whole));
    assert_true(part.data == numbers);
    assert_int_equal(BYTES, part.bytes);
    close_it(&part);
    finish_with(100, 1);
}

/* Unlike that of the whole buffer. */
static void discarded_part_keeps_the_rest(void **state)
{
    (void)state;
    dynsel_host_accessor part = {.data = NULL};
    run_on(0, set_all(a, 100));
    assert_status(DYNSEL_OK, open_part(&part, DYNSEL_ACCESS_DISCARD_WRITE, 2, 30));
    assert_int_equal(1, sim.counts.fetched);
    ((int32_t *)part.data)[0] = 130;
    ((int32_t *)part.data)[1] = 131;
    close_it(&part);
    run_on(1, add_to(a, 1));
    assert_status(DYNSEL_OK, open_part(&part, DYNSEL_ACCESS_DISCARD_WRITE, ELEMENTS, 0));
    assert_int_equal(1, sim.counts.fetched); /* it is the whole */
    for (int32_t i = 0; i < ELEMENTS; i++) {
        ((int32_t *)part.data)[i] = i;
    }
    close_it(&part);
    finish_with(0, 1);
}

static void data_that_are_valid_are_not_copied(void **state)
{
    (void)state;
    dynsel_host_accessor part = {.data = NULL};
    const job reads = total_of(a, b);
    run_on(0, reads);
    assert_status(DYNSEL_OK, open_part(&part, DYNSEL_ACCESS_READ, 3, 3));
    assert_int_equal(0, sim.counts.fetched);
    close_it(&part);
    finish_with(0, 1);
}

/* The order is that of the buffer, also for parts that do not overlap. */
static void parts_conflict_as_the_buffer_does(void **state)
{
    (void)state;
    dynsel_host_accessor first = {.data = NULL};
    dynsel_host_accessor second = {.data = NULL};
    assert_status(DYNSEL_OK, open_part(&first, DYNSEL_ACCESS_READ, 3, 0));
    assert_status(DYNSEL_OK, open_part(&second, DYNSEL_ACCESS_READ, 3, 10));
    close_it(&second);
    assert_status(DYNSEL_E_BUSY, open_part(&second, DYNSEL_ACCESS_WRITE, 3, 10));
    close_it(&first);
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job changes = add_to(a, 1);
    assert_status(DYNSEL_OK, send_job(0, &changes, NULL));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_part_for(
                                        &first, a, DYNSEL_ACCESS_READ, DYNSEL_RANGE(1), whole, 0));
    assert_error_says("dynsel_host_accessor_open_part_for");
    places_hurry();
    simulated_finish(&sim);
    assert_status(DYNSEL_OK,
                  dynsel_host_accessor_open_part_for(&first, a, DYNSEL_ACCESS_READ, DYNSEL_RANGE(1),
                                                     whole, UINT64_C(20000000000)));
    assert_int_equal(1, *(const int32_t *)first.data);
    close_it(&first);
    finish_with(1, 1);
}

static void wrong_part_is_refused(void **state)
{
    (void)state;
    static const struct {
        dynsel_range range;
        dynsel_range offset;
    } wrong[] = {
        {{{ELEMENTS + 1}, 1}, {{0}, 0}},
        {{{2}, 1}, {{ELEMENTS - 1}, 1}},
        {{{1}, 1}, {{SIZE_MAX}, 1}},
        {{{SIZE_MAX}, 1}, {{1}, 1}},
        {{{0}, 1}, {{ELEMENTS + 1}, 1}},
        {{{1, 1}, 2}, {{0}, 0}},
        {{{1}, 1}, {{0, 0}, 2}},
        {{{1}, 4}, {{0}, 0}},
        {{{0}, 0}, {{1}, 1}},
    };
    dynsel_host_accessor part = {.data = NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_status(DYNSEL_E_INVALID,
                      dynsel_host_accessor_open_part(&part, a, DYNSEL_ACCESS_READ, wrong[i].range,
                                                     wrong[i].offset));
        assert_error_says("dynsel_host_accessor_open_part");
        assert_null(part.data);
    }
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, open_part(&part, DYNSEL_ACCESS_READ_WRITE, 0, ELEMENTS));
    assert_non_null(part.data);
    assert_int_equal(0, part.bytes);
    close_it(&part);
    finish_with(0, 1);
}

static unsigned char cube[4][5][6][3];

/* Any box: each element stands where the pitches say, and `bytes` ends with the last. */
static void pitches_lead_to_each_element(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {4, 5, 6};
    test_random random = {test_seed()};
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, cube, 3, DYNSEL_RANGE_3D(4, 5, 6)));
    for (int i = 0; i < 200; i++) {
        dynsel_range range = {.dimensions = 3};
        dynsel_range offset = {.dimensions = 3};
        for (int d = 0; d < 3; d++) {
            const uint32_t size = test_random_below(&random, sizes[d]) + 1;
            range.size[d] = size;
            offset.size[d] = test_random_below(&random, sizes[d] - size + 1);
        }
        dynsel_host_accessor part = {.data = NULL};
        assert_status(DYNSEL_OK, dynsel_host_accessor_open_part(&part, buffer, DYNSEL_ACCESS_READ,
                                                                range, offset));
        const unsigned char *last = NULL;
        for (size_t x = 0; x < range.size[0]; x++) {
            for (size_t y = 0; y < range.size[1]; y++) {
                for (size_t z = 0; z < range.size[2]; z++) {
                    last = (const unsigned char *)part.data + x * part.slice_pitch +
                           y * part.row_pitch + z * 3;
                    assert_true(last ==
                                cube[offset.size[0] + x][offset.size[1] + y][offset.size[2] + z]);
                }
            }
        }
        assert_true(last + 3 == (const unsigned char *)part.data + part.bytes);
        close_it(&part);
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    finish_with(0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(part_begins_at_its_first_element),
        TEST_SET_UP(discarded_part_keeps_the_rest),
        TEST_SET_UP(data_that_are_valid_are_not_copied),
        TEST_SET_UP(parts_conflict_as_the_buffer_does),
        TEST_SET_UP(wrong_part_is_refused),
        TEST_SET_UP(pitches_lead_to_each_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
