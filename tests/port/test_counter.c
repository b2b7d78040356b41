/* SPDX-License-Identifier: Apache-2.0 */
/* A hardware counter that wraps becomes one of 64 bits that never goes back and never tears. */
#define _XOPEN_SOURCE 700

#include <dynsel/port.h>

#include <stdbool.h>

#include "support/signals.h"
#include "test.h"

static uint32_t hardware;

static uint32_t read_hardware(void)
{
    return hardware;
}

static void counter_continues_when_hardware_wraps(void **state)
{
    static const uint32_t sizes[] = {0xff, 0xffffff, 0xffffffff, 249999};
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        dynsel_counter counter = {.read = read_hardware, .largest = sizes[i]};
        const uint64_t round = (uint64_t)sizes[i] + 1;
        hardware = 0;
        assert_true(dynsel_counter_total(&counter) == 0);
        hardware = sizes[i];
        assert_true(dynsel_counter_total(&counter) == sizes[i]);
        hardware = 0;
        assert_true(dynsel_counter_total(&counter) == round);
        assert_true(dynsel_counter_total(&counter) == round);
        hardware = sizes[i] / 2;
        assert_true(dynsel_counter_total(&counter) == round + sizes[i] / 2);
        hardware = 5; /* past the end once more */
        assert_true(dynsel_counter_total(&counter) == 2 * round + 5);
    }
}

/* The upper half changes, so a reader of two halves would be off by 2^32. */
static void counter_exceeds_32_bits(void **state)
{
    dynsel_counter counter = {.read = read_hardware, .largest = 0xffffffff};
    uint64_t expected = 0;
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        expected += UINT32_C(0x7ffffff3);
        hardware = (uint32_t)expected;
        assert_true(dynsel_counter_total(&counter) == expected);
    }
    assert_true(expected > UINT64_C(0x1f00000000));
}

/* Each look counts one, so the total is how many looks there were. */
static volatile uint32_t steps;

static uint32_t read_and_step(void)
{
    const uint32_t now = steps;
    steps = now + 1;
    return now & 0x7f;
}

static dynsel_counter stormy = {.read = read_and_step, .largest = 0x7f};
static volatile uint32_t interrupts;
static volatile bool went_back;
static uint64_t last_in_interrupt;

static void look_in_interrupt(int number)
{
    (void)number;
    const uint64_t total = dynsel_counter_total(&stormy);
    if (total <= last_in_interrupt) {
        went_back = true;
    }
    last_in_interrupt = total;
    interrupts = interrupts + 1;
}

static void counter_read_in_interrupt_is_not_torn(void **state)
{
    uint64_t last = 0;
    uint32_t looks = 0;
    (void)state;
    (void)dynsel_counter_total(&stormy); /* the first step is from 0 to 0 */
    use_signal(SIGALRM, look_in_interrupt);
    set_timer(50);
    for (; interrupts < 300 && !went_back; looks++) {
        const uint64_t total = dynsel_counter_total(&stormy);
        went_back = went_back || total <= last;
        last = total;
    }
    set_timer(0);
    use_signal(SIGALRM, SIG_IGN);
    assert_false(went_back);
    assert_int_equal(dynsel_counter_total(&stormy), looks + interrupts + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_continues_when_hardware_wraps),
        cmocka_unit_test(counter_exceeds_32_bits),
        cmocka_unit_test(counter_read_in_interrupt_is_not_torn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
