/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock never goes back, neither for the program nor for an interrupt that reads it too, also
 * where the hardware below it goes round.
 */
#define _XOPEN_SOURCE 700

#include <dynsel/backend.h>

#include <stdbool.h>

#include "support/signals.h"
#include "test.h"

/* Of the boards' counters the shortest goes round in 0.7 s. */
enum { LONG_ENOUGH_NS = 1500000000, PERIOD_US = 200 };

static volatile bool went_back;
static volatile uint32_t interrupts;
static uint64_t last_in_interrupt;

static void look_in_interrupt(int number)
{
    (void)number;
    const uint64_t now = dynsel_now_ns();
    went_back = went_back || now < last_in_interrupt;
    last_in_interrupt = now;
    interrupts = interrupts + 1;
}

static void clock_never_goes_back(void **state)
{
    const uint64_t begin = dynsel_now_ns();
    uint64_t last = begin;
    uint64_t longest = 0;
    (void)state;
    assert_true(begin != 0);
    use_signal(SIGALRM, look_in_interrupt);
    set_timer(PERIOD_US);
    while (last - begin < LONG_ENOUGH_NS && !went_back) {
        const uint64_t now = dynsel_now_ns();
        went_back = went_back || now < last;
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    set_timer(0);
    use_signal(SIGALRM, SIG_IGN);
    assert_false(went_back);
    assert_true(interrupts > 100);
    assert_true(longest < LONG_ENOUGH_NS); /* a torn time is seconds off */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clock_never_goes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
