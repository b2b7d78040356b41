/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between buffers and memory of the program, as commands. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "data/pair.h"
#include "random.h"

static int32_t memory[ELEMENTS];

/* A copy between memory and a part of a buffer. */
typedef struct transfer {
    bool to_memory;
    void *memory;
    size_t bytes;
    dynsel_accessor accessor;
    const dynsel_submission *behind;
    bool with_argument;
} transfer;

static dynsel_status record_transfer(dynsel_handler *handler, void *args)
{
    const transfer *const it = args;
    (void)dynsel_require(handler, &it->accessor);
    if (it->behind != NULL) {
        (void)dynsel_depends_on(handler, it->behind);
    }
    if (it->with_argument) {
        (void)dynsel_set_arg_local(handler, 0, 4);
    }
    return it->to_memory ? dynsel_copy_to_memory(handler, &it->accessor, it->memory, it->bytes)
                         : dynsel_copy_from_memory(handler, it->memory, it->bytes, &it->accessor);
}

static transfer from_memory(dynsel_buffer buffer)
{
    return (transfer){.memory = memory,
                      .bytes = BYTES,
                      .accessor = {.name = "it",
                                   .buffer = buffer,
                                   .mode = DYNSEL_ACCESS_DISCARD_WRITE,
                                   .placeholder = true}};
}

static transfer to_memory(dynsel_buffer buffer)
{
    return (transfer){
        .to_memory = true,
        .memory = memory,
        .bytes = BYTES,
        .accessor = {
            .name = "it", .buffer = buffer, .mode = DYNSEL_ACCESS_READ, .placeholder = true}};
}

static dynsel_status run_transfer(unsigned place, transfer it)
{
    return dynsel_submit_command_group_and_wait(&places[place].policy, record_transfer, &it);
}

static dynsel_status send_transfer(unsigned place, transfer *it, dynsel_submission *submission)
{
    return dynsel_submit_command_group(&places[place].policy, record_transfer, it, submission);
}

static void set_memory(int32_t first)
{
    for (int32_t i = 0; i < ELEMENTS; i++) {
        memory[i] = first + i;
    }
}

static void check_memory(int32_t first)
{
    for (int32_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(first + i, memory[i]);
    }
}

static void whole_buffers_are_copied_everywhere(void **state)
{
    (void)state;
    for (unsigned place = 0; place < PLACES; place++) {
        for (unsigned other = 0; other < PLACES; other++) {
            const int32_t first = (int32_t)(100 * place + other);
            set_memory(first);
            assert_status(DYNSEL_OK, run_transfer(place, from_memory(a)));
            set_memory(-7);
            run_on(other, add_to(a, 1));
            assert_status(DYNSEL_OK, run_transfer(other, to_memory(a)));
            check_memory(first + 1);
            see_buffer(a, first + 1, 1);
        }
    }
    finish_with(100 * HOST + HOST + 1, 1);
}

/* It runs when its turn comes, and not in the submit. */
static void copies_keep_order_of_command_groups(void **state)
{
    (void)state;
    dynsel_submission submissions[3];
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job changes = add_to(a, 1);
    transfer out = to_memory(a);
    transfer in = from_memory(a);
    set_memory(50);
    assert_status(DYNSEL_OK, send_job(0, &changes, &submissions[0]));
    assert_status(DYNSEL_OK, send_transfer(0, &out, &submissions[1]));
    in.behind = &submissions[1]; /* the memory is the program's affair */
    assert_status(DYNSEL_OK, send_transfer(0, &in, &submissions[2]));
    check_memory(50);
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    check_memory(1); /* and that went back into the buffer */
    finish_with(1, 1);
}

/* A copy in may read the memory as soon as it is started, whatever it waits for on the device. */
static void copy_from_memory_starts_after_what_it_is_behind(void **state)
{
    (void)state;
    dynsel_submission submissions[2];
    sim.devices[0].in_order = false;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    transfer out = to_memory(a);
    transfer in = from_memory(b);
    set_memory(50);
    assert_status(DYNSEL_OK, send_transfer(0, &out, &submissions[0]));
    const unsigned pending = simulated_pending(&sim);
    in.behind = &submissions[0];
    assert_status(DYNSEL_OK, send_transfer(0, &in, &submissions[1]));
    assert_int_equal(pending, simulated_pending(&sim));
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    check_memory(0);
    finish_with(0, 1);
}

static unsigned char cube[4 * 5 * 6 * 2];
static unsigned char cube_before[sizeof cube];
static unsigned char packed[sizeof cube];

/* What the copy has to do, element by element, with the buffer as it was before. */
static void check_or_do(const transfer *it)
{
    const size_t *const first = it->accessor.offset.size;
    const size_t *const size = it->accessor.range.size;
    size_t next = 0;
    for (size_t x = first[0]; x < first[0] + size[0]; x++) {
        for (size_t y = first[1]; y < first[1] + size[1]; y++) {
            for (size_t z = first[2]; z < first[2] + size[2]; z++) {
                unsigned char *const element = &cube_before[((x * 5 + y) * 6 + z) * 2];
                if (it->to_memory) {
                    assert_memory_equal(element, &packed[next], 2);
                } else {
                    memcpy(element, &packed[next], 2);
                }
                next += 2;
            }
        }
    }
    assert_int_equal(it->bytes, next);
}

static void choose_part(test_random *random, dynsel_accessor *accessor)
{
    static const uint32_t whole[] = {4, 5, 6};
    accessor->range.dimensions = accessor->offset.dimensions = 3;
    for (int d = 0; d < 3; d++) {
        const uint32_t size = test_random_below(random, whole[d] + 1);
        accessor->range.size[d] = size;
        accessor->offset.size[d] = test_random_below(random, whole[d] - size + 1);
    }
}

static size_t bytes_of(const dynsel_accessor *accessor)
{
    return dynsel_range_count(&accessor->range) * 2;
}

static void fill_at_random(test_random *random, unsigned char *bytes)
{
    for (size_t i = 0; i < sizeof cube; i++) {
        bytes[i] = (unsigned char)test_random_next(random);
    }
}

/* Any box, also an empty one, against a copy element by element; the rest stays. */
static void random_boxes_are_copied(void **state)
{
    (void)state;
    test_random random = {test_seed()};
    dynsel_buffer buffer = {0};
    fill_at_random(&random, cube);
    memcpy(cube_before, cube, sizeof cube);
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, cube, 2, DYNSEL_RANGE_3D(4, 5, 6)));
    for (int i = 0; i < 300; i++) {
        transfer it = test_random_below(&random, 2) == 0 ? to_memory(buffer) : from_memory(buffer);
        it.memory = packed;
        choose_part(&random, &it.accessor);
        it.bytes = bytes_of(&it.accessor);
        fill_at_random(&random, packed);
        assert_status(DYNSEL_OK, run_transfer(test_random_below(&random, PLACES), it));
        check_or_do(&it);
        dynsel_host_accessor seen = {.data = NULL};
        assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
        assert_memory_equal(cube_before, seen.data, sizeof cube);
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    finish_with(0, 1);
}

static void elements_outside_of_the_part_stay(void **state)
{
    (void)state;
    transfer it = from_memory(a);
    it.accessor.range = DYNSEL_RANGE(3);
    it.accessor.offset = DYNSEL_RANGE(10);
    it.bytes = 3 * sizeof memory[0];
    set_memory(500);
    for (unsigned place = 0; place < PLACES; place++) {
        assert_status(DYNSEL_OK, run_transfer(place, it));
        dynsel_host_accessor seen = {.data = NULL};
        assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
        for (int32_t i = 0; i < ELEMENTS; i++) {
            const int32_t expected = i < 10 || i >= 13 ? i : 490 + i;
            assert_int_equal(expected, ((const int32_t *)seen.data)[i]);
        }
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    }
    write_buffer(a, 0, 1);
    finish_with(0, 1);
}

static void expect_refusal(transfer it, dynsel_status status, const char *says)
{
    assert_status(status, run_transfer(0, it));
    assert_error_says(says);
}

static void wrong_copies_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const transfer right = i == 0 ? from_memory(a) : to_memory(a);
        transfer it = right;
        it.bytes--;
        expect_refusal(it, DYNSEL_E_INVALID, "for 128 bytes");
        it = right;
        it.memory = NULL;
        expect_refusal(it, DYNSEL_E_INVALID, "NULL");
        it = right;
        it.memory = numbers; /* the buffer's own */
        expect_refusal(it, DYNSEL_E_INVALID, "host accessor");
        it = right;
        it.memory = &numbers[ELEMENTS - 1];
        expect_refusal(it, DYNSEL_E_INVALID, "host accessor");
        it = right;
        it.accessor.mode = i == 0 ? DYNSEL_ACCESS_READ : DYNSEL_ACCESS_DISCARD_WRITE;
        expect_refusal(it, DYNSEL_E_INVALID, "[it]");
        it = right;
        it.accessor.range = DYNSEL_RANGE(ELEMENTS + 1);
        expect_refusal(it, DYNSEL_E_INVALID, "past the end");
        it = right;
        it.with_argument = true;
        expect_refusal(it, DYNSEL_E_INVALID, "arguments were set");
        it = right;
        it.accessor.buffer.token = 0;
        expect_refusal(it, DYNSEL_E_INVALID, "no buffer");
    }
    assert_status(DYNSEL_E_INVALID, dynsel_copy_from_memory(NULL, memory, 4, NULL));
    assert_int_equal(0, sim.counts.launched);
    finish_with(0, 1);
}

/* Each step of a copy on a device fails once: the buffer keeps what it had, or is lost where the
 * copy had begun to write it. */
static void failed_copy_tells_and_leaves_no_trace(void **state)
{
    (void)state;
    static const simulated_kind kinds[] = {SIMULATED_ALLOCATE, SIMULATED_BRING, SIMULATED_LAUNCH,
                                           SIMULATED_WRITE_BACK};
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (int to = 0; to < 2; to++) {
            const bool happens = to != 0 || kinds[k] != SIMULATED_WRITE_BACK;
            set_memory(70);
            simulated_fail(&sim, kinds[k], 1, false, DYNSEL_E_TASK);
            const dynsel_status status =
                run_transfer(k % 2, to != 0 ? to_memory(a) : from_memory(a));
            simulated_fail(&sim, 0, 0, false, DYNSEL_OK);
            if (status == DYNSEL_OK) { /* nothing of this kind was needed */
                assert_true(!happens || kinds[k] == SIMULATED_ALLOCATE ||
                            kinds[k] == SIMULATED_BRING);
                write_buffer(a, 0, 1);
            } else {
                assert_status(DYNSEL_E_TASK, status);
                see_buffer(a, 0, 1);
            }
        }
    }
    finish_with(0, 1);
}

/* On a device, too, it does not begin behind work that failed: the buffer keeps what it has. */
static void copy_behind_failed_submission_does_not_begin(void **state)
{
    (void)state;
    dynsel_submission submissions[2];
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job fails = {
        .kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {b}, .modes = {DYNSEL_ACCESS_READ_WRITE}};
    assert_status(DYNSEL_OK, send_job(0, &fails, &submissions[0]));
    transfer it = from_memory(a);
    it.behind = &submissions[0];
    set_memory(70);
    assert_status(DYNSEL_OK, send_transfer(1, &it, &submissions[1]));
    const unsigned launched = sim.counts.launched;
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_int_equal(launched, sim.counts.launched);
    places_hurry();
    see_buffer(a, 0, 1);
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&b));
    b = new_buffer(others);
    finish_with(0, 1);
}

/* The device has done both when the copy's start returns, without an event for the copy; that the
 * work before it failed has not been seen then. */
static void copy_over_at_start_fails_behind_unseen_failure(void **state)
{
    (void)state;
    dynsel_submission failing;
    const job fails = {
        .kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {b}, .modes = {DYNSEL_ACCESS_READ_WRITE}};
    assert_status(DYNSEL_OK, send_job(0, &fails, &failing));
    assert_status(DYNSEL_E_DEPENDENCY, run_transfer(0, to_memory(b)));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&failing));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&b));
    b = new_buffer(others);
    finish_with(0, 1);
}

#if CONFIG_DYNSEL_STAGING_BYTES <= 268435456
/* On a device it is staged, so there is a limit, which the text names; the host has none. */
static void too_large_copy_names_the_option(void **state)
{
    (void)state;
    unsigned char here = 0; /* refused before it is used */
    dynsel_buffer large = {0};
    const size_t count = (size_t)CONFIG_DYNSEL_STAGING_BYTES + 1;
    assert_status(DYNSEL_OK, dynsel_buffer_init(&large, numbers, 1, DYNSEL_RANGE(count)));
    transfer it = to_memory(large);
    it.memory = &here;
    it.bytes = count;
    const uintptr_t distance = (uintptr_t)&here - (uintptr_t)numbers;
    if (distance > count && distance < UINTPTR_MAX - count) { /* they do not overlap */
        assert_status(DYNSEL_E_FULL, run_transfer(0, it));
        assert_error_says("CONFIG_DYNSEL_STAGING_BYTES");
    }
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&large));
    finish_with(0, 1);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(whole_buffers_are_copied_everywhere),
        TEST_SET_UP(copies_keep_order_of_command_groups),
        TEST_SET_UP(copy_from_memory_starts_after_what_it_is_behind),
        TEST_SET_UP(random_boxes_are_copied),
        TEST_SET_UP(elements_outside_of_the_part_stay),
        TEST_SET_UP(wrong_copies_are_refused),
        TEST_SET_UP(failed_copy_tells_and_leaves_no_trace),
        TEST_SET_UP(copy_behind_failed_submission_does_not_begin),
        TEST_SET_UP(copy_over_at_start_fails_behind_unseen_failure),
#if CONFIG_DYNSEL_STAGING_BYTES <= 268435456
        TEST_SET_UP(too_large_copy_names_the_option),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
