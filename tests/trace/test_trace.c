/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, stopping and writing a trace: what is refused, names, rings that are too small, and
 * several traces one after the other. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "support/do_nothing.h"
#include "support/traced.h"

enum {
    LEAST = DYNSEL_TRACE_LEAST_RECORDS,
    /* records for names in the smallest trace, and in the ring of each thread */
    NAMES = LEAST / 8 > 16 ? LEAST / 8 : 16,
    ROOM = (LEAST - NAMES) / CONFIG_DYNSEL_TRACE_THREADS,
    ID = 4711
};

static dynsel_trace_record records[LEAST + 1];
static dynsel_fixed_resource_policy policy;

static int set_up(void **state)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &host, .count = 1};
    (void)state;
    return dynsel_fixed_resource_init(&policy, &options, 0);
}

static int tear_down(void **state)
{
    (void)state;
    return dynsel_policy_deinit(&policy.policy);
}

static void submit(uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit(&policy.policy, &DYNSEL_TASK(do_nothing, NULL), NULL));
    }
}

static dynsel_status ignore(void *context, const void *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return DYNSEL_OK;
}

static void nothing_can_be_written_before_first_trace(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_trace_write(ignore, NULL));
    assert_error_says("dynsel_trace_stop");
    assert_int_equal(dynsel_trace_lost(), 0);
    assert_status(DYNSEL_E_INVALID, dynsel_trace_stop());
    assert_error_says("dynsel_trace_start");
}

static void start_refuses_too_few_records(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_trace_start(NULL, LEAST));
    assert_status(DYNSEL_E_INVALID, dynsel_trace_start(records, 0));
    assert_status(DYNSEL_E_INVALID, dynsel_trace_start(records, LEAST - 1));
    assert_error_number(LEAST);
    assert_status(DYNSEL_E_INVALID, dynsel_trace_stop()); /* nothing was started */
    assert_status(DYNSEL_OK, dynsel_trace_start(records, LEAST));
    assert_status(DYNSEL_OK, dynsel_trace_stop());
}

static void start_beside_running_trace_is_refused(void **state)
{
    (void)state;
    traced_begin();
    submit(1);
    assert_status(DYNSEL_E_BUSY, dynsel_trace_start(records, LEAST));
    assert_error_says("dynsel_trace_stop");
    assert_status(DYNSEL_E_INVALID, dynsel_trace_write(ignore, NULL));
    assert_int_equal(dynsel_trace_lost(), 0);
    submit(1);
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_END, 0), 2);
    assert_status(DYNSEL_E_INVALID, dynsel_trace_stop());
    assert_status(DYNSEL_E_INVALID, dynsel_trace_write(NULL, NULL));
}

static void trace_is_written_as_often_as_wanted(void **state)
{
    (void)state;
    traced_begin();
    submit(3);
    traced_end();
    static traced_file first;
    first = traced;
    traced_read();
    assert_memory_equal(&first, &traced, sizeof traced);
    assert_int_equal(traced_count(DYNSEL_TRACE_CHOICE, 0), 3);
    assert_true(traced.last_ticks >= traced.first_ticks && traced.last_ns >= traced.first_ns);
    for (uint32_t i = 0; i < traced.count; i++) {
        assert_in_range(traced.records[i].ticks, traced.first_ticks, traced.last_ticks);
    }
}

static unsigned calls_left;

static dynsel_status fail_at_last(void *context, const void *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    assert_true(count > 0);
    return --calls_left == 0 ? DYNSEL_E_DEVICE : DYNSEL_OK;
}

static void failure_of_each_call_of_write_ends_it(void **state)
{
    (void)state;
    traced_begin();
    submit(2);
    traced_end();
    unsigned failing = 1;
    for (;; failing++) {
        calls_left = failing;
        const dynsel_status status = dynsel_trace_write(fail_at_last, NULL);
        if (calls_left != 0) {
            assert_status(DYNSEL_OK, status);
            break;
        }
        assert_status(DYNSEL_E_DEVICE, status);
    }
    /* the head, one of each ring, and the records of two rings */
    assert_int_equal(failing - 1, 1 + CONFIG_DYNSEL_TRACE_THREADS + 1 + 2);
    traced_read();
    assert_int_equal(traced_count(DYNSEL_TRACE_END, 0), 2);
}

static void full_ring_loses_oldest_records_and_no_name(void **state)
{
    enum { TIMES = 10 * ROOM };
    (void)state;
    assert_status(DYNSEL_OK, dynsel_trace_start(records, LEAST));
    submit(TIMES);
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    traced_read();
    const traced_ring *ring = &traced.rings[1];
    assert_int_equal(ring->count, ROOM);
    assert_true(ring->written >= 2 * (uint64_t)TIMES);
    assert_int_equal(dynsel_trace_lost(), ring->written - ring->count);
    assert_non_null(traced_find(DYNSEL_TRACE_END, TIMES, 0)); /* the newest */
    assert_null(traced_find(DYNSEL_TRACE_CHOICE, 1, 0));
    for (uint32_t i = 1; i < ring->count; i++) {
        const dynsel_trace_record *record = &traced.records[ring->first + i];
        assert_true(record->ticks >= record[-1].ticks);
        assert_true(record->piece >= record[-1].piece); /* in order, the oldest first */
    }
    assert_int_equal(traced_count(DYNSEL_TRACE_POLICY_NAME, 0), 1);
    assert_non_null(traced_find(DYNSEL_TRACE_RESOURCE, 0, 0));
}

static void exactly_full_ring_loses_nothing(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_trace_start(records, LEAST));
    for (uint32_t i = 0; i < ROOM; i++) {
        dynsel_trace_mark("mark");
    }
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    assert_int_equal(dynsel_trace_lost(), 0);
    traced_read();
    assert_int_equal(traced_count(DYNSEL_TRACE_MARK, 0), ROOM);
    assert_status(DYNSEL_OK, dynsel_trace_start(records, LEAST));
    for (uint32_t i = 0; i <= ROOM; i++) {
        dynsel_trace_mark(i == 0 ? "lost" : "mark");
    }
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    assert_int_equal(dynsel_trace_lost(), 1);
    traced_read();
    assert_int_equal(traced_count(DYNSEL_TRACE_MARK, 0), ROOM);
    assert_memory_equal(traced_find(DYNSEL_TRACE_MARK, 0, 0)->words, "mark", 4);
}

static void surplus_names_are_lost_and_counted(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_trace_start(records, LEAST));
    for (uint32_t i = 0; i < 2 * NAMES; i++) {
        dynsel_trace_name(&(dynsel_task){.function = do_nothing, .id = ID}, "a name");
    }
    submit(1);
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    traced_read();
    assert_int_equal(traced.rings[0].count, NAMES);
    assert_true(traced.rings[0].written > 2 * (uint64_t)NAMES);
    assert_int_equal(dynsel_trace_lost(), traced.rings[0].written - NAMES);
    assert_int_equal(traced_count(DYNSEL_TRACE_KIND_NAME, 0), NAMES - 1); /* beside the kind */
    assert_int_equal(traced_count(DYNSEL_TRACE_END, 0), 1);
}

static void each_trace_counts_and_names_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) { /* the policy was there before the first */
        submit(5);
        traced_begin();
        submit(2);
        traced_end();
        assert_int_equal(traced_count(DYNSEL_TRACE_CHOICE, 0), 2);
        assert_non_null(traced_find(DYNSEL_TRACE_CHOICE, 1, 0));
        assert_non_null(traced_find(DYNSEL_TRACE_CHOICE, 2, 0));
        assert_int_equal(traced_count(DYNSEL_TRACE_RESOURCE, 0), 1);
        assert_int_equal(traced_count(DYNSEL_TRACE_KIND, 0), 1);
        assert_int_equal(traced_find(DYNSEL_TRACE_CHOICE, 1, 0)->policy, 1);
        assert_string_equal(traced_name(DYNSEL_TRACE_POLICY_NAME, 0, 1),
                            policy.policy.ops->name != NULL ? policy.policy.ops->name : "");
        assert_string_equal(traced_name(DYNSEL_TRACE_BACKEND_NAME, 0, 1),
                            dynsel_inline_backend.ops->name);
    }
}

static void names_and_marks_are_cut(void **state)
{
    static const char text[] = "0123456789abcdef0123456789ABCDEF0123456789abcdefX";
    const dynsel_task tasks[] = {{.function = do_nothing, .id = 1},
                                 {.function = do_nothing, .id = 2},
                                 {.function = do_nothing, .id = 3}};
    (void)state;
    dynsel_trace_mark("none is running");
    dynsel_trace_name(&tasks[0], "none is running");
    traced_begin();
    dynsel_trace_mark(NULL);
    dynsel_trace_name(NULL, "no task");
    dynsel_trace_name(&tasks[0], NULL);
    dynsel_trace_name(&tasks[0], text);
    dynsel_trace_name(&tasks[1], "short");
    dynsel_trace_name(&tasks[2], "0123456789abcdef");
    dynsel_trace_mark(text);
    dynsel_trace_mark("");
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_KIND, 0), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const dynsel_trace_record *kind = traced_find(DYNSEL_TRACE_KIND, 0, i);
        assert_int_equal(traced_low(kind), tasks[i].id);
        assert_int_equal(kind->words[2] & 1, 1); /* it is an id */
        const char *name = traced_name(DYNSEL_TRACE_KIND_NAME, kind->piece, 0);
        assert_memory_equal(name, i == 1 ? "short" : text, i == 0 ? 48 : i == 1 ? 6 : 16);
        assert_int_equal(strlen(name), i == 0 ? 48 : i == 1 ? 5 : 16);
    }
    assert_int_equal(traced_count(DYNSEL_TRACE_MARK, 0), 2);
    assert_memory_equal(traced_find(DYNSEL_TRACE_MARK, 0, 0)->words, text, 16);
    assert_int_equal(traced_low(traced_find(DYNSEL_TRACE_MARK, 0, 1)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_can_be_written_before_first_trace),
        TEST(start_refuses_too_few_records),
        TEST(start_beside_running_trace_is_refused),
        TEST(trace_is_written_as_often_as_wanted),
        TEST(failure_of_each_call_of_write_ends_it),
        TEST(full_ring_loses_oldest_records_and_no_name),
        TEST(exactly_full_ring_loses_nothing),
        TEST(surplus_names_are_lost_and_counted),
        TEST(each_trace_counts_and_names_anew),
        TEST(names_and_marks_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
