/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reads and writes is not torn by an interrupt, and no wake is missed. On hosts signals are
 * the interrupts.
 */
#define _XOPEN_SOURCE 700

#include <dynsel/port.h>

#include <stdbool.h>

#include "port/atomic.h"
#include "port/wake.h"
#include "support/signals.h"
#include "test.h"

enum { PERIOD_US = 50, ENOUGH = 300 };

static dynsel_word word;
static volatile uint32_t interrupts;

static void begin_storm(void (*handler)(int))
{
    interrupts = 0;
    word.value = 0;
    use_signal(SIGALRM, handler);
    set_timer(PERIOD_US);
}

static void end_storm(void)
{
    set_timer(0);
    use_signal(SIGALRM, SIG_IGN);
}

static void add_in_interrupt(int number)
{
    (void)number;
    interrupts = interrupts + 1;
    (void)dynsel_marked_add(&word, 1);
}

static void interrupted_additions_lose_nothing(void **state)
{
    uint32_t additions = 0;
    (void)state;
    begin_storm(add_in_interrupt);
    while (interrupts < ENOUGH) {
        (void)dynsel_marked_add(&word, 1);
        (void)dynsel_marked_add(&word, 1);
        additions += 2;
    }
    end_storm();
    assert_int_equal(word.value, additions + interrupts);
}

static void interrupted_swaps_lose_nothing(void **state)
{
    uint32_t swaps = 0;
    (void)state;
    begin_storm(add_in_interrupt);
    while (interrupts < ENOUGH) {
        uint32_t found = dynsel_word_load_acquire(&word);
        while (!dynsel_marked_swap(&word, &found, found + 1)) {
        }
        swaps++;
    }
    end_storm();
    assert_int_equal(word.value, swaps + interrupts);
}

static volatile uint32_t put, taken;

static uint32_t exchange(uint32_t value)
{
    uint32_t found = dynsel_word_load_acquire(&word);
    while (!dynsel_marked_swap(&word, &found, value)) {
    }
    return found;
}

static void put_in_interrupt(int number)
{
    (void)number;
    interrupts = interrupts + 1;
    put = put + 1;
    taken = taken + exchange(1);
}

static void interrupted_exchanges_neither_lose_nor_duplicate(void **state)
{
    uint32_t taken_here = 0;
    (void)state;
    put = taken = 0;
    begin_storm(put_in_interrupt);
    while (interrupts < ENOUGH) {
        taken_here += exchange(0);
    }
    end_storm();
    assert_int_equal(taken_here + taken + word.value, put);
}

static void failed_swap_returns_found_value(void **state)
{
    uint32_t expected = 1;
    (void)state;
    dynsel_word_store_release(&word, 7);
    assert_false(dynsel_marked_swap(&word, &expected, 9));
    assert_int_equal(expected, 7);
    assert_true(dynsel_marked_swap(&word, &expected, 9));
    assert_int_equal(expected, 7);
    assert_int_equal(dynsel_word_load_relaxed(&word), 9);
}

static void nested_critical_section_blocks_interrupts(void **state)
{
    (void)state;
    begin_storm(add_in_interrupt);
    while (interrupts == 0) {
    }
    const uint32_t outer = dynsel_port_enter_critical();
    const uint32_t inner = dynsel_port_enter_critical();
    dynsel_port_leave_critical(inner);
    const uint32_t before = interrupts;
    const uint64_t begin = dynsel_now_ns();
    while (dynsel_now_ns() - begin < 20 * PERIOD_US * UINT64_C(1000)) {
    }
    const uint32_t after = interrupts;
    dynsel_port_leave_critical(outer);
    while (interrupts == after) { /* now they come again */
    }
    end_storm();
    assert_int_equal(after, before);
}

enum { LONG_NS = 1000000000 };

static void wake_in_interrupt(int number)
{
    (void)number;
    interrupts = interrupts + 1;
    dynsel_wake_all();
}

/* A missed wake is a sleep of a thousand seconds. */
static void interrupted_sleep_misses_no_wake(void **state)
{
    (void)state;
    const uint32_t old = dynsel_wake_ticket();
    dynsel_wake_all();
    dynsel_wake_sleep(old, UINT64_C(1000) * LONG_NS);
    begin_storm(wake_in_interrupt);
    for (uint32_t ticket = dynsel_wake_ticket(); interrupts < ENOUGH;
         ticket = dynsel_wake_ticket()) {
        const uint32_t before = interrupts;
        while (interrupts == before && dynsel_wake_ticket() == ticket) {
            dynsel_wake_sleep(ticket, UINT64_C(1000) * LONG_NS);
        }
    }
    end_storm();
}

static void sleep_ends_at_its_timeout(void **state)
{
    enum { SHORT_NS = 2000000 };
    (void)state;
    const uint64_t begin = dynsel_now_ns();
    while (dynsel_now_ns() - begin < 3 * SHORT_NS) {
        dynsel_wake_sleep(dynsel_wake_ticket(), SHORT_NS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_additions_lose_nothing),
        cmocka_unit_test(interrupted_swaps_lose_nothing),
        cmocka_unit_test(interrupted_exchanges_neither_lose_nor_duplicate),
        cmocka_unit_test(failed_swap_returns_found_value),
        cmocka_unit_test(nested_critical_section_blocks_interrupts),
        cmocka_unit_test(interrupted_sleep_misses_no_wake),
        cmocka_unit_test(sleep_ends_at_its_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
