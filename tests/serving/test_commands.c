/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups and data that rank 0 sends, on the host and on the devices that PoCL shows. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "serving/data_requests.h"
#include "serving/fake_rank_0.h"
#include "serving/resources.h"
#include "test.h"

enum {
    MEMORY = 64 * 1024,
    GUARD = 256,
    WORDS = 512,
    BYTES = WORDS * sizeof(uint32_t),
    ELSEWHERE = 8 * BYTES, /* an offset that no copy of words has */
    PEER = 3
};

static _Alignas(4096) unsigned char memory[MEMORY + GUARD];

static dynsel_status add_on_host(const dynsel_launch *launch)
{
    uint32_t *const words = dynsel_launch_data(launch, 0);
    const uint32_t value = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        words[launch->offset.size[0] + i] += value;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel add = {.name = "add",
                                  .function = add_on_host,
                                  .source = "kernel void add(global uint *words, uint value)"
                                            "{ words[get_global_id(0)] += value; }"};

static dynsel_status fail_on_host(const dynsel_launch *launch)
{
    (void)launch;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_USER, .function = "fail_on_host", .detail = "it always fails"});
}

static const dynsel_kernel failing = {.name = "failing", .function = fail_on_host};

static dynsel_status check_on_host(const dynsel_launch *launch)
{
    uint32_t *const seen = dynsel_launch_data(launch, 0);
    seen[0] = (uint32_t)launch->arguments[1].bytes;
    seen[1] = (uint32_t)launch->arguments[3].bytes;
    seen[2] = dynsel_launch_data(launch, 2) == NULL;
    seen[3] = launch->arguments[1].kind == DYNSEL_ARGUMENT_DATA;
    return DYNSEL_OK;
}

/* Of an empty buffer, a pointer and local memory. */
static const dynsel_kernel check = {
    .name = "check",
    .function = check_on_host,
    .source = "kernel void check(global uint *seen, global uint *empty, global uint *pointer,"
              " local uint *scratch)"
              "{ seen[0] = empty == 0 ? 0 : 1; seen[1] = 32; seen[2] = pointer == 0;"
              " seen[3] = scratch != 0; }"};

static const dynsel_kernel broken = {.name = "broken",
                                     .source = "kernel void broken(global uint *w) { w[0] = no; }",
                                     .function = add_on_host};

enum { ADD, FAILING, CHECK, BROKEN };

static const dynsel_kernel *const kernels[] = {&add, &failing, &check, &broken};

static const dynsel_mpi_options options = {.kernels = kernels,
                                           .kernel_count = sizeof kernels / sizeof kernels[0],
                                           .memory = memory,
                                           .memory_bytes = MEMORY};

static uint32_t words[WORDS];

static bool is_device(uint32_t resource)
{
    return resource > 0;
}

static int set_up(void **state)
{
    (void)state;
    memset(memory, 0x5a, sizeof memory);
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    fake_begin(&options, test_resources, test_resource_count);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_end();
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(memory[MEMORY + i], 0x5a);
    }
    return 0;
}

static dynsel_mpi_place words_at(uint32_t copy)
{
    return place_of(copy, (uint64_t)copy * BYTES, BYTES);
}

static void push_add(uint32_t operation, uint32_t resource, uint32_t copy, uint32_t value)
{
    request r;
    launch_begin(&r, operation, resource, ADD, 2, DYNSEL_RANGE(WORDS));
    launch_data(&r, words_at(copy), DYNSEL_ACCESS_READ_WRITE);
    launch_value(&r, &value, sizeof value);
    request_push(&r);
}

static void check_words(uint32_t operation, uint32_t added)
{
    static uint32_t seen[WORDS];
    fake_take_data(operation, seen, sizeof seen);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(seen[i], i + added);
    }
    assert_int_equal(fake_wait(operation).status, DYNSEL_OK);
}

static void bring_words(uint32_t operation, uint32_t copy)
{
    data_push(DYNSEL_MPI_BRING, operation, words_at(copy), 0);
    fake_give_data(operation, words, sizeof words);
    assert_int_equal(fake_wait(operation).status, DYNSEL_OK);
}

static void work_changes_data_on_each_resource(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < test_resource_count; i++) {
        data_push(DYNSEL_MPI_BRING, 0, words_at(i), 0);
        push_add(1, i, i, 5);
        push_add(2, (i + 1) % test_resource_count, i, 7);
        data_push(DYNSEL_MPI_FETCH, 3, words_at(i), PEER);
        fake_wait_for_data(0);
        fake_let_pass(20);
        assert_int_equal(fake_answers(), 0); /* all of them wait for the data */
        fake_give_data(0, words, sizeof words);
        assert_int_equal(fake_wait(0).status, DYNSEL_OK);
        assert_int_equal(fake_wait(1).status, DYNSEL_OK);
        assert_int_equal(fake_wait(2).status, DYNSEL_OK);
        check_words(3, 12);
        fake_tell(DYNSEL_MPI_RELEASE, i);
    }
}

static void work_waits_for_data_that_are_leaving(void **state)
{
    (void)state;
    bring_words(0, 0);
    data_push(DYNSEL_MPI_FETCH, 1, words_at(0), PEER);
    push_add(2, 0, 0, 1);
    fake_wait_for_data(1);
    fake_let_pass(20);
    assert_false(fake_has_answer(2));
    check_words(1, 0);
    assert_int_equal(fake_wait(2).status, DYNSEL_OK);
}

/* The fetch waits for the first work, which waits for other data; the second must not overtake it.
 */
static void work_does_not_overtake_data_that_wait(void **state)
{
    (void)state;
    request r;
    const uint32_t one = 1;
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), 0);
    push_add(1, 0, 0, 3);
    data_push(DYNSEL_MPI_FETCH, 2, words_at(0), PEER);
    launch_begin(&r, 3, 0, ADD, 2, DYNSEL_RANGE(WORDS));
    launch_data(&r, words_at(0), DYNSEL_ACCESS_READ_WRITE);
    launch_value(&r, &one, sizeof one);
    request_push(&r);
    fake_wait_for_data(0);
    fake_let_pass(20);
    assert_int_equal(fake_line(), 1); /* it is held */
    fake_give_data(0, words, sizeof words);
    check_words(2, 3);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    assert_int_equal(fake_wait(1).status, DYNSEL_OK);
    assert_int_equal(fake_wait(3).status, DYNSEL_OK);
}

static void other_work_goes_on_while_data_arrive(void **state)
{
    (void)state;
    bring_words(0, 1);
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), 0);
    push_add(1, 0, 1, 3);
    assert_int_equal(fake_wait(1).status, DYNSEL_OK);
    fake_give_data(0, words, sizeof words);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
}

static void failed_data_fail_the_work_that_uses_them(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < test_resource_count; i++) {
        bring_words(0, 0);
        data_push(DYNSEL_MPI_BRING, 1, words_at(0), 0);
        push_add(2, i, 0, 3);
        push_add(3, i, 0, 3);
        fake_wait_for_data(1);
        fake_let_pass(20);
        fake_fail_data(1, 15);
        const fake_done failed = fake_wait(1);
        assert_int_equal(failed.status, DYNSEL_E_DEVICE);
        assert_int_equal(failed.code, 15);
        assert_int_equal(fake_wait(2).status, DYNSEL_E_DEPENDENCY);
        assert_int_equal(fake_wait(3).status, DYNSEL_E_DEPENDENCY);
        data_push(DYNSEL_MPI_BRING, 1, words_at(0), 0);
        push_add(2, i, 0, 3);
        data_push(DYNSEL_MPI_FETCH, 3, words_at(0), 0);
        fake_give_data(1, words, sizeof words);
        check_words(3, 3);
        assert_int_equal(fake_wait(1).status, DYNSEL_OK);
        assert_int_equal(fake_wait(2).status, DYNSEL_OK);
    }
}

static void work_behind_failed_work_does_not_begin(void **state)
{
    (void)state;
    request r;
    bring_words(0, 0);
    bring_words(0, 1);
    launch_begin(&r, 1, 0, FAILING, 1, DYNSEL_RANGE(1));
    launch_data(&r, words_at(0), DYNSEL_ACCESS_READ);
    request_push(&r);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_USER);
    launch_begin(&r, 2, 0, ADD, 2, DYNSEL_RANGE(WORDS));
    launch_data(&r, words_at(1), DYNSEL_ACCESS_READ_WRITE);
    launch_value(&r, &(uint32_t){1}, 4);
    request_follow(&r, 1);
    request_push(&r);
    const fake_done done = fake_wait(2);
    assert_int_equal(done.status, DYNSEL_E_DEPENDENCY);
    assert_true(!CONFIG_DYNSEL_ERROR_TEXTS || text_contains(done.text, "operation 1 failed"));
    data_push(DYNSEL_MPI_FETCH, 3, words_at(1), 0);
    check_words(3, 0);
}

/* Of different copies, so that only the message orders them: the first waits for its data. */
static void work_follows_what_its_message_names(void **state)
{
    (void)state;
    request r;
    bring_words(0, 1);
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), 0);
    push_add(1, 0, 0, 1);
    launch_begin(&r, 2, test_resource_count - 1, ADD, 2, DYNSEL_RANGE(WORDS));
    launch_data(&r, words_at(1), DYNSEL_ACCESS_READ_WRITE);
    launch_value(&r, &(uint32_t){1}, 4);
    request_follow(&r, 1);
    request_push(&r);
    fake_wait_for_data(0);
    fake_let_pass(20);
    assert_int_equal(fake_answers(), 0);
    assert_int_equal(fake_line(), 0); /* it has begun */
    fake_give_data(0, words, sizeof words);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(fake_wait(i).status, DYNSEL_OK);
    }
    launch_begin(&r, 2, 0, ADD, 2, DYNSEL_RANGE(WORDS)); /* behind data of another copy */
    launch_data(&r, words_at(1), DYNSEL_ACCESS_READ_WRITE);
    launch_value(&r, &(uint32_t){1}, 4);
    request_follow(&r, 0);
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), 0);
    request_push(&r);
    fake_wait_for_data(0);
    fake_let_pass(20);
    assert_int_equal(fake_line(), 1);
    fake_fail_data(0, 1);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_DEVICE);
    assert_int_equal(fake_wait(2).status, DYNSEL_E_DEPENDENCY);
}

static void data_follow_what_their_message_names(void **state)
{
    (void)state;
    request r;
    bring_words(0, 1);
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), 0);
    push_add(1, 0, 0, 1);
    data_begin(&r, DYNSEL_MPI_FETCH, 2, words_at(1), 0);
    request_follow(&r, 1);
    request_push(&r);
    fake_wait_for_data(0);
    fake_let_pass(20);
    assert_false(fake_moves_data(2));
    fake_fail_data(0, 15);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_DEVICE);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_DEPENDENCY);
    assert_int_equal(fake_wait(2).status, DYNSEL_E_DEPENDENCY);
}

static void arguments_of_all_kinds_arrive(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < test_resource_count; i++) {
        request r;
        uint32_t seen[4] = {9, 9, 9, 9};
        launch_begin(&r, 0, i, CHECK, 4, DYNSEL_RANGE(1));
        launch_data(&r, place_of(0, 0, sizeof seen), DYNSEL_ACCESS_DISCARD_WRITE);
        launch_data(&r, place_of(0, 0, 0), DYNSEL_ACCESS_READ);
        launch_other(&r, DYNSEL_ARGUMENT_POINTER, 8);
        launch_other(&r, DYNSEL_ARGUMENT_LOCAL, 32);
        request_push(&r);
        data_push(DYNSEL_MPI_FETCH, 1, place_of(0, 0, sizeof seen), 0);
        assert_int_equal(fake_wait(0).status, DYNSEL_OK);
        fake_take_data(1, seen, sizeof seen);
        assert_int_equal(fake_wait(1).status, DYNSEL_OK);
        assert_int_equal(seen[0], 0);
        assert_int_equal(seen[1], 32);
        assert_int_equal(seen[2], 1);
        assert_int_equal(seen[3], 1);
    }
}

/* A place of ranges holds one after the other, of different sizes. */
static void place_holds_ranges_of_different_sizes(void **state)
{
    (void)state;
    for (uint32_t count = 1; count < 5; count++) {
        request r;
        const size_t bytes = count * sizeof words[0];
        const dynsel_mpi_place place = place_of(0, 0, bytes);
        uint32_t seen[4] = {0};
        data_push(DYNSEL_MPI_BRING, 0, place, 0);
        fake_give_data(0, words, bytes);
        launch_begin(&r, 1, test_resource_count - 1, ADD, 2, DYNSEL_RANGE(count));
        launch_data(&r, place, DYNSEL_ACCESS_READ_WRITE);
        launch_value(&r, &count, sizeof count);
        request_push(&r);
        data_push(DYNSEL_MPI_FETCH, 2, place, 0);
        fake_take_data(2, seen, bytes);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(fake_wait(i).status, DYNSEL_OK);
        }
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(seen[i], i + count);
        }
    }
}

static void release_waits_for_what_uses_the_copy(void **state)
{
    (void)state;
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), 0);
    fake_tell(DYNSEL_MPI_RELEASE, 0);
    fake_tell(DYNSEL_MPI_RELEASE, 5);
    fake_tell(DYNSEL_MPI_RELEASE, UINT32_MAX);
    fake_wait_for_data(0);
    fake_let_pass(20);
    assert_int_equal(fake_line(), 3);
    fake_give_data(0, words, sizeof words);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    data_push(DYNSEL_MPI_BRING, 0, place_of(0, ELSEWHERE, 64), 0); /* the number is free */
    fake_give_data(0, words, 64);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    assert_memory_equal(memory + ELSEWHERE, words, 64);
}

static void abandoned_data_are_out_of_service(void **state)
{
    (void)state;
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), PEER);
    push_add(1, 0, 0, 1);
    data_push(DYNSEL_MPI_FETCH, 2, words_at(0), PEER);
    fake_wait_for_data(0);
    fake_let_pass(20);
    fake_tell(DYNSEL_MPI_ABANDON, 2);
    fake_tell(DYNSEL_MPI_ABANDON, 1); /* of work: nothing */
    fake_tell(DYNSEL_MPI_ABANDON, 9);
    assert_int_equal(fake_wait(2).status, DYNSEL_E_OUT_OF_SERVICE);
    fake_tell(DYNSEL_MPI_ABANDON, 0);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_OUT_OF_SERVICE);
    assert_true(fake_abandoned(0));
    assert_int_equal(fake_wait(1).status, DYNSEL_E_DEPENDENCY);
}

static void data_may_be_abandoned_before_they_come(void **state)
{
    (void)state;
    request r;
    fake_tell_ahead(DYNSEL_MPI_ABANDON, 0);
    data_begin(&r, DYNSEL_MPI_BRING, 0, words_at(0), PEER);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_OUT_OF_SERVICE);
    r.message.header.turn++; /* the next use of the number is another one */
    request_push(&r);
    fake_give_data(0, words, sizeof words);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
}

/* What is held in the line waits for data of the lost rank. */
static void lost_rank_frees_the_line(void **state)
{
    (void)state;
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), PEER);
    fake_tell(DYNSEL_MPI_RELEASE, 0);
    data_push(DYNSEL_MPI_BRING, 1, words_at(1), PEER);
    data_push(DYNSEL_MPI_BRING, 2, words_at(2), 0);
    fake_wait_for_data(0);
    fake_let_pass(20);
    assert_int_equal(fake_line(), 3);
    fake_tell_ahead(DYNSEL_MPI_LOST, PEER);
    fake_tell_ahead(DYNSEL_MPI_LOST, UINT32_MAX);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_OUT_OF_SERVICE);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_OUT_OF_SERVICE);
    fake_give_data(2, words, sizeof words);
    assert_int_equal(fake_wait(2).status, DYNSEL_OK);
    fake_end_all(false);
}

static void kernel_is_prepared_or_fails(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < test_resource_count; i++) {
        request r;
        launch_begin(&r, 0, i, ADD, 0, (dynsel_range){.dimensions = 0});
        r.message.header.kind = DYNSEL_MPI_PREPARE;
        request_push(&r);
        assert_int_equal(fake_wait(0).status, DYNSEL_OK);
        launch_begin(&r, 0, i, BROKEN, 0, (dynsel_range){.dimensions = 0});
        r.message.header.kind = DYNSEL_MPI_PREPARE;
        request_push(&r);
        assert_int_equal(fake_wait(0).status, is_device(i) ? DYNSEL_E_TASK : DYNSEL_OK);
        launch_begin(&r, 0, i, 4, 0, (dynsel_range){.dimensions = 0});
        r.message.header.kind = DYNSEL_MPI_PREPARE;
        request_push(&r);
        assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
        launch_begin(&r, 0, test_resource_count, ADD, 0, (dynsel_range){.dimensions = 0});
        r.message.header.kind = DYNSEL_MPI_PREPARE;
        request_push(&r);
        assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    }
}

static void places_outside_of_the_memory_are_refused(void **state)
{
    (void)state;
    const dynsel_mpi_place wrong[] = {place_of(0, MEMORY - 4, 8), place_of(0, MEMORY + 1, 0),
                                      place_of(0, UINT64_MAX, 8), place_of(0, 8, UINT64_MAX),
                                      place_of(CONFIG_DYNSEL_MPI_COPIES, 0, 8)};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        request r;
        data_push(DYNSEL_MPI_BRING, 0, wrong[i], 0);
        assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
        data_push(DYNSEL_MPI_FETCH, 0, wrong[i], 0);
        assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
        if (wrong[i].bytes != 0) {
            launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1));
            launch_data(&r, wrong[i], DYNSEL_ACCESS_READ);
            request_push(&r);
            assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
        }
    }
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), FAKE_RANK);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    data_push(DYNSEL_MPI_BRING, 0, words_at(0), FAKE_RANKS);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
}

static void wrong_launches_are_refused(void **state)
{
    (void)state;
    request r;
    launch_begin(&r, 0, 0, ADD, 1, (dynsel_range){{1, 1, 1}, 4});
    launch_value(&r, words, 4);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, CONFIG_DYNSEL_MAX_ARGUMENTS + 1, DYNSEL_RANGE(1));
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 2, DYNSEL_RANGE(1)); /* one is missing */
    launch_value(&r, words, 4);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1)); /* a value that is not there */
    launch_other(&r, DYNSEL_ARGUMENT_VALUE, UINT32_MAX);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1));
    launch_other(&r, (dynsel_argument_kind)17, 4);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1));
    launch_data(&r, words_at(0), (dynsel_access_mode)(DYNSEL_ACCESS_ATOMIC + 1));
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1)); /* follows itself */
    launch_value(&r, words, 4);
    request_follow(&r, 0);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1));
    launch_value(&r, words, 4);
    request_follow(&r, DYNSEL_MPI_OPERATIONS);
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    launch_begin(&r, 0, 0, ADD, 1, DYNSEL_RANGE(1)); /* says that it follows more */
    launch_value(&r, words, 4);
    r.message.header.after_count = 3;
    request_push(&r);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
}

static void many_copies_fill_the_table_of_buffers(void **state)
{
    (void)state;
    fake_moves_by_itself(true);
    uint32_t made = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MPI_COPIES && i * 64 < MEMORY; i++) {
        data_push(DYNSEL_MPI_BRING, 0, place_of(i, (uint64_t)i * 64, 64), 0);
        const dynsel_status status = fake_wait(0).status;
        made += status == DYNSEL_OK;
        assert_true(status == DYNSEL_OK || status == DYNSEL_E_FULL);
    }
    assert_true(made <= CONFIG_DYNSEL_MAX_BUFFERS && made > 0);
    dynsel_buffer one = {0};
    assert_int_equal(dynsel_buffer_init(&one, words, 4, DYNSEL_RANGE(1)),
                     made < CONFIG_DYNSEL_MAX_BUFFERS ? DYNSEL_OK : DYNSEL_E_FULL);
    if (one.token != 0) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_changes_data_on_each_resource),
        TEST(work_waits_for_data_that_are_leaving),
        TEST(work_does_not_overtake_data_that_wait),
        TEST(other_work_goes_on_while_data_arrive),
        TEST(failed_data_fail_the_work_that_uses_them),
        TEST(work_behind_failed_work_does_not_begin),
        TEST(work_follows_what_its_message_names),
        TEST(data_follow_what_their_message_names),
        TEST(arguments_of_all_kinds_arrive),
        TEST(place_holds_ranges_of_different_sizes),
        TEST(release_waits_for_what_uses_the_copy),
        TEST(abandoned_data_are_out_of_service),
        TEST(data_may_be_abandoned_before_they_come),
        cmocka_unit_test_setup(lost_rank_frees_the_line, set_up),
        TEST(kernel_is_prepared_or_fails),
        TEST(places_outside_of_the_memory_are_refused),
        TEST(wrong_launches_are_refused),
        TEST(many_copies_fill_the_table_of_buffers),
    };
    test_find_resources();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
