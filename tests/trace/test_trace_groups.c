/* SPDX-License-Identifier: Apache-2.0 */
/* The events of command groups: copies, the work they depend on, and what the program copies. */
#include "support/forget_domains.h"
#include "support/places.h"
#include "support/places_fixture.h"
#include "support/traced.h"

enum {
    BYTES_BITS = 40,
    BUFFER_BITS = 11,
    SOURCE_AT = 51,
    DOMAIN_AT = 56,
    PASSED_AT = 62,
    DOMAIN_BITS = 6
};

static int32_t numbers[ELEMENTS];
static dynsel_buffer a;

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    for (int32_t i = 0; i < ELEMENTS; i++) {
        numbers[i] = i;
    }
    a = new_buffer(numbers);
    traced_begin();
    return 0;
}

/* A copy of the whole buffer. */
static void check_copy(const dynsel_trace_record *copy, uint32_t piece, bool is_to_host)
{
    assert_non_null(copy);
    const uint64_t what = traced_high(copy);
    assert_int_equal(copy->piece, piece);
    assert_int_equal(what & (((uint64_t)1 << BYTES_BITS) - 1), BYTES);
    assert_int_not_equal(what >> BYTES_BITS & ((1u << BUFFER_BITS) - 1), 0);
    assert_int_not_equal(what >> DOMAIN_AT & ((1u << DOMAIN_BITS) - 1), 0);
    assert_int_equal(what >> 63, is_to_host);
    assert_true(traced_low(copy) <= copy->ticks);
}

static void copies_are_recorded_with_the_work_that_needs_them(void **state)
{
    (void)state;
    const job adds = add_to(a, 1);
    assert_status(DYNSEL_OK, run_job(0, &adds));
    assert_status(DYNSEL_OK, run_job(0, &adds)); /* the data are there */
    see_buffer(a, 2, 1);
    end_buffer(&a, numbers, 2, 1);
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_COPY, 0), 2);
    check_copy(traced_find(DYNSEL_TRACE_COPY, 1, 0), 1, false);
    assert_null(traced_find(DYNSEL_TRACE_COPY, 2, 0));
    check_copy(traced_find(DYNSEL_TRACE_COPY, 0, 1), 0, true);
    assert_int_equal(traced_find(DYNSEL_TRACE_COPY, 0, 1)->policy, 0); /* the program's */
    for (uint32_t piece = 1; piece <= 2; piece++) {
        assert_int_equal(traced_count(DYNSEL_TRACE_START, piece), 1);
        assert_int_equal(traced_count(DYNSEL_TRACE_END, piece), 1);
    }
    const uint32_t kind = traced_find(DYNSEL_TRACE_CHOICE, 1, 0)->words[0];
    assert_int_equal(traced_count(DYNSEL_TRACE_KIND, kind), 1);
    assert_string_equal(traced_name(DYNSEL_TRACE_KIND_NAME, kind, 0), "add"); /* the kernel's */
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
static void passes_are_recorded_with_where_they_come_from(void **state)
{
    (void)state;
    forget_domains();
    simulated_let_pass(&sim);
    const job adds = add_to(a, 1);
    for (unsigned device = 0; device < 2; device++) {
        assert_status(DYNSEL_OK, run_job(device, &adds));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&a));
    traced_end();
    const dynsel_trace_record *const first = traced_find(DYNSEL_TRACE_COPY, 1, 0);
    const dynsel_trace_record *const second = traced_find(DYNSEL_TRACE_COPY, 2, 0);
    check_copy(first, 1, false);
    check_copy(second, 2, false);
    assert_int_equal(traced_high(first) >> PASSED_AT, 0);
    assert_int_equal(traced_high(second) >> PASSED_AT, 1);
    assert_int_equal((traced_high(second) >> SOURCE_AT & 31) + 1,
                     traced_high(first) >> DOMAIN_AT & 63);
    assert_int_equal(traced_count(DYNSEL_TRACE_COPY, 2), 1);
}
#endif

static void dependences_are_recorded(void **state)
{
    (void)state;
    const job sets = set_all(a, 5);
    const job adds = add_to(a, 1);
    dynsel_submission first;
    dynsel_submission second;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    assert_status(DYNSEL_OK, send_job(0, &sets, &first));
    assert_status(DYNSEL_OK, send_job(1, &adds, &second));
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&second));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
    end_buffer(&a, numbers, 6, 1);
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_DEPENDS, 0), 1);
    const dynsel_trace_record *depends = traced_find(DYNSEL_TRACE_DEPENDS, 2, 0);
    assert_non_null(depends);
    assert_int_equal(depends->words[0], 1);
    const dynsel_trace_record *start = traced_find(DYNSEL_TRACE_START, 2, 0);
    assert_non_null(start);
    assert_true(start->ticks >= depends->ticks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_are_recorded_with_the_work_that_needs_them),
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
        TEST(passes_are_recorded_with_where_they_come_from),
#endif
        TEST(dependences_are_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
