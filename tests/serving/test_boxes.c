/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of random boxes, on each resource, against the same in this file; and hostile
 * ones. */
#include <dynsel/dynsel.h>

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "serving/data_requests.h"
#include "serving/resources.h"
#include "test.h"

enum { COPY_BYTES = 16384, COPIES = 2, MEMORY = COPIES * COPY_BYTES, GUARD = 256, ROUNDS = 60 };

static _Alignas(4096) unsigned char memory[MEMORY + GUARD];
static unsigned char model[COPIES][COPY_BYTES];
static test_random random_numbers;

static const dynsel_mpi_options options = {.memory = memory, .memory_bytes = MEMORY};

static uint32_t below(uint32_t end)
{
    return test_random_below(&random_numbers, end);
}

static dynsel_mpi_place copy_at(uint32_t copy)
{
    return place_of(copy, (uint64_t)copy * COPY_BYTES, COPY_BYTES);
}

static int set_up(void **state)
{
    (void)state;
    memset(memory, 0x5a, sizeof memory);
    fake_begin(&options, test_resources, test_resource_count);
    for (uint32_t copy = 0; copy < COPIES; copy++) {
        for (uint32_t i = 0; i < COPY_BYTES; i++) {
            model[copy][i] = (unsigned char)below(256);
        }
        data_push(DYNSEL_MPI_BRING, 0, copy_at(copy), 0);
        fake_give_data(0, model[copy], COPY_BYTES);
        assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t copy = 0; copy < COPIES; copy++) {
        static unsigned char seen[COPY_BYTES];
        data_push(DYNSEL_MPI_FETCH, 0, copy_at(copy), 0);
        fake_take_data(0, seen, COPY_BYTES);
        assert_int_equal(fake_wait(0).status, DYNSEL_OK);
        assert_memory_equal(seen, model[copy], COPY_BYTES);
    }
    fake_end();
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(memory[MEMORY + i], 0x5a);
    }
    return 0;
}

/* With these sizes, whose pitches are multiples of `unit`, somewhere in a copy. */
static dynsel_box box_around(const size_t size[3], size_t unit)
{
    dynsel_box box = {.size = {size[0], size[1], size[2]}};
    const bool is_dense = below(4) == 0;
    box.row_pitch = size[2] + (is_dense ? 0 : below(4) * unit);
    box.slice_pitch = box.row_pitch * size[1] + (is_dense ? 0 : below(3) * unit);
    const size_t extent = box.slice_pitch * size[0];
    box.first = below((uint32_t)((COPY_BYTES - extent) / unit) + 1) * unit;
    return box;
}

static void choose_sizes(size_t size[3], size_t *unit)
{
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 32, 128};
    *unit = units[below(sizeof units / sizeof units[0])];
    size[0] = 1 + below(3);
    size[1] = 1 + below(4);
    size[2] = (1 + below(2)) * *unit;
}

static size_t byte_at(const dynsel_box *box, size_t slice, size_t row, size_t i)
{
    return box->first + slice * box->slice_pitch + row * box->row_pitch + i;
}

static void push_boxes(dynsel_mpi_kind kind, uint32_t resource, const dynsel_mpi_boxes_body *body,
                       const unsigned char *element)
{
    request r;
    request_begin(&r, kind, resource, 1);
    request_add(&r, body, sizeof *body);
    if (kind == DYNSEL_MPI_FILL) {
        request_add(&r, element, body->element_bytes);
    }
    request_push(&r);
}

static void copy_somewhere(uint32_t resource)
{
    size_t size[3];
    size_t unit;
    choose_sizes(size, &unit);
    const uint32_t from = below(COPIES);
    const dynsel_mpi_boxes_body body = {.from = copy_at(from),
                                        .to = copy_at(1 - from),
                                        .from_box = box_around(size, unit),
                                        .to_box = box_around(size, unit)};
    push_boxes(DYNSEL_MPI_COPY, resource, &body, NULL);
    for (size_t slice = 0; slice < size[0]; slice++) {
        for (size_t row = 0; row < size[1]; row++) {
            for (size_t i = 0; i < size[2]; i++) {
                model[1 - from][byte_at(&body.to_box, slice, row, i)] =
                    model[from][byte_at(&body.from_box, slice, row, i)];
            }
        }
    }
}

static void fill_somewhere(uint32_t resource)
{
    size_t size[3];
    size_t unit;
    unsigned char element[128];
    choose_sizes(size, &unit);
    const uint32_t to = below(COPIES);
    const dynsel_mpi_boxes_body body = {
        .to = copy_at(to), .to_box = box_around(size, unit), .element_bytes = (uint32_t)unit};
    for (size_t i = 0; i < unit; i++) {
        element[i] = (unsigned char)below(256);
    }
    push_boxes(DYNSEL_MPI_FILL, resource, &body, element);
    for (size_t slice = 0; slice < size[0]; slice++) {
        for (size_t row = 0; row < size[1]; row++) {
            for (size_t i = 0; i < size[2]; i++) {
                model[to][byte_at(&body.to_box, slice, row, i)] = unit != 0 ? element[i % unit] : 0;
            }
        }
    }
}

static void random_boxes_on_each_resource_are_those_of_the_model(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROUNDS * test_resource_count; i++) {
        const uint32_t resource = below(test_resource_count);
        if (below(2) == 0) {
            copy_somewhere(resource);
        } else {
            fill_somewhere(resource);
        }
        const fake_done done = fake_wait(1);
        if (done.status != DYNSEL_OK) {
            fail_msg("resource %u: %s", (unsigned)resource, done.text);
        }
    }
}

static void parts_of_one_copy_are_copied(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < test_resource_count; i++) {
        const dynsel_mpi_boxes_body rows = {
            .from = copy_at(0),
            .to = copy_at(0),
            .from_box = {.size = {1, 4, 8}, .row_pitch = 64, .slice_pitch = 256},
            .to_box = {.first = 16, .size = {1, 4, 8}, .row_pitch = 64, .slice_pitch = 256}};
        push_boxes(DYNSEL_MPI_COPY, i, &rows, NULL);
        for (size_t row = 0; row < 4; row++) {
            memcpy(&model[0][16 + row * 64], &model[0][row * 64], 8);
        }
        assert_int_equal(fake_wait(1).status, DYNSEL_OK);
    }
}

static void box_without_bytes_changes_nothing(void **state)
{
    (void)state;
    const unsigned char element = 1;
    for (uint32_t i = 0; i < 3; i++) {
        dynsel_mpi_boxes_body body = {.to = copy_at(0),
                                      .from = copy_at(1),
                                      .to_box = {.size = {1, 1, 1}, .first = SIZE_MAX},
                                      .from_box = {.size = {1, 1, 1}, .first = SIZE_MAX},
                                      .element_bytes = 1};
        body.to_box.size[i] = 0;
        body.from_box.size[i] = 0;
        push_boxes(DYNSEL_MPI_FILL, 0, &body, &element);
        assert_int_equal(fake_wait(1).status, DYNSEL_OK);
        push_boxes(DYNSEL_MPI_COPY, 0, &body, NULL);
        assert_int_equal(fake_wait(1).status, DYNSEL_OK);
    }
}

static void box_outside_of_its_copy_is_refused(void **state)
{
    (void)state;
    const unsigned char element = 1;
    const dynsel_box wrong[] = {{.first = COPY_BYTES, .size = {1, 1, 1}},
                                {.first = 0, .size = {1, 1, COPY_BYTES + 1}},
                                {.first = 0, .size = {1, 2, 1}, .row_pitch = COPY_BYTES},
                                {.first = 0, .size = {2, 1, 1}, .slice_pitch = COPY_BYTES},
                                {.first = 0, .size = {3, 1, 1}, .slice_pitch = SIZE_MAX / 2 + 1},
                                {.first = 0, .size = {1, SIZE_MAX, 1}, .row_pitch = SIZE_MAX},
                                {.first = SIZE_MAX, .size = {1, 1, 1}},
                                {.first = 8, .size = {1, 1, SIZE_MAX - 7}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        dynsel_mpi_boxes_body body = {.to = copy_at(0), .to_box = wrong[i], .element_bytes = 1};
        push_boxes(DYNSEL_MPI_FILL, 0, &body, &element);
        assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
        body.from = copy_at(1);
        body.from_box = wrong[i];
        push_boxes(DYNSEL_MPI_COPY, 0, &body, NULL);
        assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
        body.to_box = (dynsel_box){.size = {1, 1, 1}};
        push_boxes(DYNSEL_MPI_COPY, 0, &body, NULL);
        assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    }
}

static void wrong_boxes_are_refused(void **state)
{
    (void)state;
    static const unsigned char element[256] = {1};
    const uint32_t sizes[] = {0, 129, UINT32_MAX};
    dynsel_mpi_boxes_body body = {.to = copy_at(0), .to_box = {.size = {1, 1, 8}}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        request r;
        body.element_bytes = sizes[i];
        request_begin(&r, DYNSEL_MPI_FILL, 0, 1);
        request_add(&r, &body, sizeof body);
        request_add(&r, element, sizes[i] == UINT32_MAX ? 8 : sizes[i]);
        request_push(&r);
        assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    }
    body.from = copy_at(1);
    body.from_box = (dynsel_box){.size = {1, 1, 9}};
    push_boxes(DYNSEL_MPI_COPY, 0, &body, NULL);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    push_boxes(DYNSEL_MPI_COPY, test_resource_count, &body, NULL);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    fake_tell(DYNSEL_MPI_COPY, 1);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    fake_tell(DYNSEL_MPI_FILL, 1);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_boxes_on_each_resource_are_those_of_the_model),
        TEST(parts_of_one_copy_are_copied),
        TEST(box_without_bytes_changes_nothing),
        TEST(box_outside_of_its_copy_is_refused),
        TEST(wrong_boxes_are_refused),
    };
    random_numbers.state = test_seed();
    test_find_resources();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
