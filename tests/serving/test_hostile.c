/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random messages, torn and changed ones among them: the rank that serves neither crashes nor
 * writes outside of its memory, answers what has a number, and ends when it is told to.
 *
 * DYNSEL_TEST_SEED repeats a run, DYNSEL_TEST_MESSAGES makes it longer.
 */
#include <dynsel/dynsel.h>

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "serving/data_requests.h"
#include "serving/resources.h"
#include "test.h"

enum { MEMORY = 4096, GUARD = 4096, MESSAGES = 6000, AT_ONCE = 50, NUMBERS = 24, PLACES = 6 };

static struct {
    unsigned char before[GUARD];
    _Alignas(4096) unsigned char memory[MEMORY];
    unsigned char after[GUARD];
} space;

static test_random numbers;

static uint32_t below(uint32_t end)
{
    return test_random_below(&numbers, end);
}

/* It writes what it was given, and no more. */
static dynsel_status write_on_host(const dynsel_launch *launch)
{
    for (size_t i = 0; i < launch->argument_count; i++) {
        if (launch->arguments[i].kind == DYNSEL_ARGUMENT_DATA) {
            memset(launch->arguments[i].value, (int)i, launch->arguments[i].bytes);
        }
    }
    return launch->argument_count % 3 == 2 ? DYNSEL_E_USER : DYNSEL_OK;
}

static const dynsel_kernel write_all = {.name = "write_all", .function = write_on_host};
static const dynsel_kernel *const kernels[] = {&write_all};

static dynsel_status change(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    memset(args, 1, 24);
    return DYNSEL_OK;
}

static const dynsel_mpi_task tasks[] = {
    {.function = change, .name = "change", .bytes = 24, .comes_back = true}};

static const dynsel_mpi_options options = {.kernels = kernels,
                                           .kernel_count = 1,
                                           .tasks = tasks,
                                           .task_count = 1,
                                           .memory = space.memory,
                                           .memory_bytes = MEMORY};

static dynsel_mpi_place some_place(void)
{
    const uint32_t copy = below(PLACES);
    return place_of(copy, (uint64_t)copy * 512, below(8) == 0 ? below(1024) : 512);
}

static void write_some_body(request *r, dynsel_mpi_kind kind)
{
    static const unsigned char element[128] = {7};
    const uint32_t count = below(4);
    if (kind == DYNSEL_MPI_TASK) {
        request_add(r, &(dynsel_mpi_task_body){.task = 0}, sizeof(dynsel_mpi_task_body));
        request_add(r, element, 24);
    } else if (kind == DYNSEL_MPI_LAUNCH) {
        launch_begin(r, r->message.header.operation, 0, 0, count, DYNSEL_RANGE(1));
        for (uint32_t i = 0; i < count; i++) {
            if (below(3) == 0) {
                launch_value(r, element, 1 + below(40));
            } else {
                launch_data(r, some_place(), (dynsel_access_mode)below(6));
            }
        }
    } else if (kind == DYNSEL_MPI_COPY || kind == DYNSEL_MPI_FILL) {
        const dynsel_mpi_boxes_body body = {
            .from = some_place(),
            .to = some_place(),
            .from_box = {below(200), {1, 2, 16}, below(64), below(64)},
            .to_box = {below(200), {1, 2, 16}, below(64), below(64)},
            .element_bytes = 16};
        request_add(r, &body, sizeof body);
        if (kind == DYNSEL_MPI_FILL) {
            request_add(r, element, 16);
        }
    } else if (kind == DYNSEL_MPI_BRING || kind == DYNSEL_MPI_FETCH) {
        const dynsel_mpi_data_body body = {.place = some_place(), .peer = below(FAKE_RANKS)};
        request_add(r, &body, sizeof body);
    }
}

/* True: it says that it is an operation, so that it is answered. */
static bool push_one(void)
{
    request r;
    const dynsel_mpi_kind kind = (dynsel_mpi_kind)below(DYNSEL_MPI_ABANDON + 1);
    request_begin(&r, kind, below(8) == 0 ? below(256) : 0, below(NUMBERS));
    write_some_body(&r, kind);
    while (below(3) == 0) {
        request_follow(&r, below(8) == 0 ? below(DYNSEL_MPI_OPERATIONS + 5) : below(NUMBERS));
    }
    if (below(4) == 0 && r.bytes != 0) { /* bytes that are not as they should be */
        r.message.body[below((uint32_t)r.bytes)] ^= (unsigned char)(1u << below(8));
    }
    if (below(10) == 0) {
        r.bytes = below((uint32_t)r.bytes + 1);
    }
    if (below(20) == 0) {
        r.message.header.kind = (uint8_t)(DYNSEL_MPI_DONE + below(100));
    }
    if (below(20) == 0) {
        r.message.header.after_count = (uint16_t)below(65536);
    }
    if (below(20) == 0) {
        r.message.header.operation = test_random_next(&numbers);
    }
    if (r.message.header.kind == DYNSEL_MPI_END || r.message.header.kind == DYNSEL_MPI_LOST) {
        return false;
    }
    request_push(&r);
    return r.message.header.kind != DYNSEL_MPI_RELEASE &&
           r.message.header.kind != DYNSEL_MPI_ABANDON &&
           r.message.header.operation < DYNSEL_MPI_OPERATIONS;
}

static void random_messages_do_no_harm(void **state)
{
    (void)state;
    const char *const given = getenv("DYNSEL_TEST_MESSAGES");
    const unsigned long messages = given != NULL ? strtoul(given, NULL, 10) : MESSAGES;
    memset(&space, 0x5a, sizeof space);
    fake_begin(&options, test_resources, 1);
    fake_moves_by_itself(true);
    for (unsigned long i = 0; i < messages; i += AT_ONCE) {
        uint32_t expected = 0;
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            expected += push_one() ? 1 : 0;
        }
        fake_wait_for_answers(expected);
        fake_forget_answers();
    }
    fake_end();
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(space.before[i], 0x5a);
        assert_int_equal(space.after[i], 0x5a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_messages_do_no_harm)};
    numbers.state = test_seed();
    test_find_resources();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
