/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread yields before it sleeps: until what it waits for comes, for a short time, and for a
 * bounded number of times where the clock stands.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/backend.h>

#include <sched.h>

#include "port/atomic.h"
#include "port/wake.h"
#include "port/yield.h"
#include "test.h"

#define MOST_NS UINT64_C(50000)

enum { NEVER = 1000000, MOST_YIELDS = 1024, BEFORE = 7, AFTER = 8 };

static uint64_t now_ns;
static uint64_t yield_ns; /* how long others use the processor */
static uint32_t yields;
static uint32_t comes_after; /* so many yields */
static bool wakes_all;       /* that is what comes; else a store to the word */
static dynsel_word word;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

/* In place of the system's. */
int sched_yield(void)
{
    yields++;
    now_ns += yield_ns;
    if (yields == comes_after && wakes_all) {
        dynsel_wake_all();
    } else if (yields == comes_after) {
        dynsel_word_store_release(&word, AFTER);
    }
    return 0;
}

static bool stays(uint32_t after, uint64_t each_ns)
{
    now_ns = 1;
    yields = 0;
    comes_after = after;
    yield_ns = each_ns;
    dynsel_word_store_release(&word, after == 0 ? AFTER : BEFORE);
    return dynsel_yield_while(&word, BEFORE);
}

static void sees_what_comes(void **state)
{
    (void)state;
    assert_false(stays(0, 100));
    assert_int_equal(yields, 0);
    for (uint32_t after = 1; after <= MOST_YIELDS; after++) {
        assert_false(stays(after, 10));
        assert_int_equal(yields, after);
    }
}

static void gives_up_after_a_short_time(void **state)
{
    (void)state;
    assert_true(stays(NEVER, MOST_NS / 10));
    assert_int_equal(yields, 10);
    assert_true(stays(NEVER, MOST_NS)); /* others use the processor */
    assert_int_equal(yields, 1);
    assert_false(stays(1, MOST_NS)); /* one of them may be what it waits for */
}

static void gives_up_where_the_clock_stands(void **state)
{
    (void)state;
    assert_true(stays(NEVER, 0));
    assert_int_equal(yields, MOST_YIELDS);
}

/*
 * The look for a wake, before a sleep that may take so long.
 */

static uint64_t look(uint32_t after, uint64_t each_ns, uint64_t longest_ns)
{
    const uint32_t ticket = dynsel_wake_ticket();
    now_ns = 1;
    yields = 0;
    comes_after = after;
    yield_ns = each_ns;
    wakes_all = true;
    const uint64_t left_ns = dynsel_wake_look(ticket, longest_ns);
    wakes_all = false;
    return left_ns;
}

static void look_takes_its_time_from_sleep(void **state)
{
    (void)state;
    assert_int_equal(look(NEVER, MOST_NS / 10, 3 * MOST_NS), 2 * MOST_NS);
    assert_int_equal(look(NEVER, MOST_NS / 10, MOST_NS), 0);
    assert_int_equal(look(NEVER, 5 * MOST_NS, 3 * MOST_NS), 0); /* others used the processor */
    assert_int_equal(yields, 1);
    assert_int_equal(look(NEVER, MOST_NS / 10, MOST_NS - 1), MOST_NS - 1);
    assert_int_equal(yields, 0); /* a deadline is near */
}

static void look_sees_wake(void **state)
{
    (void)state;
    assert_int_equal(look(3, MOST_NS / 10, UINT64_MAX), 0);
    assert_int_equal(yields, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_what_comes),
        cmocka_unit_test(gives_up_after_a_short_time),
        cmocka_unit_test(gives_up_where_the_clock_stands),
        cmocka_unit_test(look_takes_its_time_from_sleep),
        cmocka_unit_test(look_sees_wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
