/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers without elements, launches without work-items, and copies and fills of nothing. */
#include <dynsel/dynsel.h>

#include "data/pair.h"

static int kernel_runs;

static dynsel_status count_runs(const dynsel_launch *launch)
{
    (void)launch;
    kernel_runs++;
    return DYNSEL_OK;
}

static const dynsel_kernel counting = {.name = "count_runs", .function = count_runs};

/* What an empty command group does: one of these, over nothing. */
typedef enum nothing {
    LAUNCH,
    LAUNCH_2D,
    COPY_OF_PARTS,
    FILL_OF_PART,
    FROM_MEMORY,
    NOTHINGS
} nothing;

typedef struct empty {
    nothing kind;
    dynsel_access_mode mode; /* of `a`, which it names */
    const dynsel_submission *behind;
} empty;

static dynsel_status record_empty(dynsel_handler *handler, void *args)
{
    const empty *const it = args;
    const int32_t element = 90;
    const dynsel_accessor whole = {.buffer = a, .mode = (uint8_t)it->mode, .placeholder = true};
    const dynsel_accessor part = {.buffer = a,
                                  .mode = (uint8_t)it->mode,
                                  .placeholder = true,
                                  .range = DYNSEL_RANGE(0),
                                  .offset = DYNSEL_RANGE(ELEMENTS)};
    const dynsel_accessor from = {
        .buffer = b, .mode = DYNSEL_ACCESS_READ, .placeholder = true, .range = DYNSEL_RANGE(0)};
    const bool is_launch = it->kind == LAUNCH || it->kind == LAUNCH_2D;
    (void)dynsel_require(handler, is_launch ? &whole : &part);
    if (it->behind != NULL) {
        (void)dynsel_depends_on(handler, it->behind);
    }
    switch (it->kind) {
    case COPY_OF_PARTS:
        (void)dynsel_require(handler, &from);
        return dynsel_copy(handler, &from, &part);
    case FILL_OF_PART:
        return dynsel_fill(handler, &part, &element, sizeof element);
    case FROM_MEMORY:
        return dynsel_copy_from_memory(handler, NULL, 0, &part);
    case LAUNCH:
        (void)dynsel_set_arg_accessor(handler, 0, &whole);
        return dynsel_parallel_for(handler, &counting, DYNSEL_RANGE(0), NULL, NULL);
    case LAUNCH_2D:
    case NOTHINGS:
    default:
        return dynsel_parallel_for(handler, &counting, DYNSEL_RANGE_2D(SIZE_MAX, 0), NULL, NULL);
    }
}

static dynsel_status run_empty(unsigned place, nothing kind, dynsel_access_mode mode)
{
    empty it = {.kind = kind, .mode = mode};
    return dynsel_submit_command_group_and_wait(&places[place].policy, record_empty, &it);
}

static dynsel_status send_empty(unsigned place, empty it, dynsel_submission *submission)
{
    return dynsel_submit_command_group(&places[place].policy, record_empty, &it, submission);
}

/* No call of the backend, no copy, no run; what they were to discard is still there. */
static void empty_commands_do_nothing(void **state)
{
    (void)state;
    static const dynsel_access_mode modes[] = {DYNSEL_ACCESS_READ_WRITE,
                                               DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_ACCESS_WRITE};
    kernel_runs = 0;
    run_on(1, add_to(a, 1));
    const simulated_counts before = sim.counts;
    for (unsigned place = 0; place < PLACES; place++) {
        for (unsigned kind = 0; kind < NOTHINGS; kind++) {
            for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
                assert_status(DYNSEL_OK, run_empty(place, (nothing)kind, modes[m]));
            }
        }
    }
    assert_int_equal(before.launched, sim.counts.launched);
    assert_int_equal(before.allocated, sim.counts.allocated);
    assert_int_equal(before.brought + before.fetched, sim.counts.brought + sim.counts.fetched);
    assert_int_equal(0, kernel_runs);
    run_on(1, add_to(a, 1)); /* the copy there is still valid */
    assert_int_equal(before.brought, sim.counts.brought);
    finish_with(2, 1);
}

/* A writer waits for a reader and a writer before it, whichever their devices; a later one waits
 * for it. */
static void empty_command_waits_for_what_is_before(void **state)
{
    (void)state;
    dynsel_submission submissions[4];
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job reads = total_of(a, b);
    assert_status(DYNSEL_OK, send_job(0, &reads, &submissions[0]));
    assert_status(DYNSEL_OK,
                  send_empty(0, (empty){.mode = DYNSEL_ACCESS_DISCARD_WRITE}, &submissions[1]));
    assert_status(DYNSEL_OK,
                  send_empty(1, (empty){.mode = DYNSEL_ACCESS_READ_WRITE}, &submissions[2]));
    const job changes = add_to(a, 1);
    assert_status(DYNSEL_OK, send_job(HOST, &changes, &submissions[3]));
    for (int i = 0; i < 4; i++) {
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[i], 0));
    }
    simulated_finish(&sim);
    for (int i = 3; i >= 0; i--) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    finish_with(1, 1);
}

/* It fails behind failed work; what is lost stays lost. */
static void empty_command_fails_behind_failed_work(void **state)
{
    (void)state;
    const job fails = {
        .kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ_WRITE}};
    job it = fails;
    it.buffers[0] = a;
    assert_status(DYNSEL_E_TASK, run_job(0, &it));
    assert_status(DYNSEL_E_DEPENDENCY, run_empty(1, LAUNCH, DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_OK, run_empty(1, LAUNCH, DYNSEL_ACCESS_DISCARD_WRITE));
    assert_status(DYNSEL_E_DEPENDENCY, run_empty(1, FILL_OF_PART, DYNSEL_ACCESS_DISCARD_WRITE));
    dynsel_host_accessor seen = {.data = NULL};
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&a));
    a = new_buffer(numbers);
    finish_with(0, 1);
}

static void empty_command_follows_named_submission(void **state)
{
    (void)state;
    dynsel_submission submissions[2];
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job other = add_to(b, 0);
    assert_status(DYNSEL_OK, send_job(0, &other, &submissions[0]));
    assert_status(DYNSEL_OK, send_empty(0, (empty){.behind = &submissions[0]}, &submissions[1]));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[1], 0));
    simulated_finish(&sim);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    finish_with(0, 1);
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
static void pending_empty_command_can_be_cancelled(void **state)
{
    (void)state;
    dynsel_submission submissions[2];
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job changes = add_to(a, 1);
    assert_status(DYNSEL_OK, send_job(0, &changes, &submissions[0]));
    assert_status(DYNSEL_OK, send_empty(1, (empty){.kind = LAUNCH}, &submissions[1]));
    assert_status(DYNSEL_OK, dynsel_cancel(&submissions[1]));
    simulated_finish(&sim);
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    finish_with(1, 1);
}
#endif

#if CONFIG_DYNSEL_REPEAT
static dynsel_status record_repeatable(dynsel_handler *handler, void *args)
{
    (void)dynsel_set_repeatable(handler);
    return record_empty(handler, args);
}

static void empty_command_can_be_repeatable(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT + 1; i++) {
        empty it = {.kind = LAUNCH};
        assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&places[0].policy,
                                                                      record_repeatable, &it));
    }
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    finish_with(0, 1);
}
#endif

/* More readers than the table has room for, all at once. */
static void empty_commands_take_places_of_readers(void **state)
{
    (void)state;
    sim.devices[0].pace = SIMULATED_WHEN_POLLED;
    const job changes = add_to(a, 1);
    assert_status(DYNSEL_OK, send_job(0, &changes, NULL));
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_READERS + 2; i++) {
        assert_status(DYNSEL_OK, send_empty(1, (empty){.kind = LAUNCH}, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&places[1].policy)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&places[0].policy)));
    finish_with(1, 1);
}

/* Buffers without elements */

static dynsel_status take_nothing(const dynsel_launch *launch)
{
    kernel_runs++;
    return launch->arguments[0].bytes == 0 ? DYNSEL_OK : DYNSEL_E_TASK;
}

static const dynsel_kernel taking = {.name = "take_nothing", .function = take_nothing};

typedef struct using_empty {
    dynsel_buffer buffer;
    dynsel_access_mode mode;
} using_empty;

static dynsel_status use_empty_buffer(dynsel_handler *handler, void *args)
{
    const using_empty *const it = args;
    dynsel_accessor accessor = {.name = NULL};
    (void)dynsel_get_access(handler, it->buffer, it->mode, DYNSEL_MEMORY_GLOBAL, &accessor);
    (void)dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_single_task(handler, &taking);
}

static const dynsel_range empty_ranges[] = {
    {.size = {0}, .dimensions = 1},
    {.size = {4, 0}, .dimensions = 2},
    {.size = {SIZE_MAX, SIZE_MAX, 0}, .dimensions = 3},
};

static void empty_buffer_is_used_everywhere_and_never_moved(void **state)
{
    (void)state;
    kernel_runs = 0;
    int runs = 0;
    for (unsigned r = 0; r < sizeof empty_ranges / sizeof empty_ranges[0]; r++) {
        using_empty it = {.buffer = {0}};
        assert_status(DYNSEL_OK,
                      dynsel_buffer_init(&it.buffer, r == 0 ? numbers : NULL, 4, empty_ranges[r]));
        for (unsigned i = 0; i < 4 * PLACES; i++) {
            it.mode = (dynsel_access_mode)(i % 4);
            assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(
                                         &places[i % PLACES].policy, use_empty_buffer, &it));
            runs++;
        }
        dynsel_host_accessor open = {.data = NULL};
        assert_status(DYNSEL_OK,
                      dynsel_host_accessor_open(&open, it.buffer, DYNSEL_ACCESS_READ_WRITE));
        assert_non_null(open.data);
        assert_int_equal(0, open.bytes);
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&open));
        dynsel_movement moved;
        assert_status(DYNSEL_OK, dynsel_buffer_movement(it.buffer, &moved));
        assert_int_equal(0, moved.copies_in + moved.copies_out);
        assert_status(DYNSEL_OK, r == 1 ? dynsel_buffer_discard(&it.buffer)
                                        : dynsel_buffer_deinit(&it.buffer));
    }
    assert_int_equal(runs, kernel_runs);
    assert_int_equal(0, sim.counts.allocated + sim.counts.brought + sim.counts.fetched);
    finish_with(0, 1);
}

/* It orders command groups, and a failure of a writer reaches readers. */
static void empty_buffer_orders_command_groups(void **state)
{
    (void)state;
    using_empty it = {.buffer = {0}, .mode = DYNSEL_ACCESS_READ_WRITE};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&it.buffer, NULL, 1, DYNSEL_RANGE(0)));
    dynsel_submission submissions[2];
    sim.devices[0].pace = SIMULATED_BY_HAND;
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&places[i].policy, use_empty_buffer,
                                                             &it, &submissions[i]));
    }
    assert_int_equal(1, sim.counts.launched);
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&it.buffer));
    simulated_finish(&sim);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_TASK);
    assert_status(DYNSEL_E_TASK,
                  dynsel_submit_command_group_and_wait(&places[0].policy, use_empty_buffer, &it));
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&places[HOST].policy,
                                                                  use_empty_buffer, &it));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&it.buffer));
    finish_with(0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(empty_commands_do_nothing),
        TEST_SET_UP(empty_command_waits_for_what_is_before),
        TEST_SET_UP(empty_command_fails_behind_failed_work),
        TEST_SET_UP(empty_command_follows_named_submission),
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
        TEST_SET_UP(pending_empty_command_can_be_cancelled),
#endif
#if CONFIG_DYNSEL_REPEAT
        TEST_SET_UP(empty_command_can_be_repeatable),
#endif
        TEST_SET_UP(empty_commands_take_places_of_readers),
        TEST_SET_UP(empty_buffer_is_used_everywhere_and_never_moved),
        TEST_SET_UP(empty_buffer_orders_command_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
