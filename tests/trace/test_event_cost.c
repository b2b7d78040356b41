/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of one event, without those of the clock: the emulator counts 64 ns for each
 * instruction.
 */
#include <dynsel/backend.h>
#include <dynsel/trace.h>

#include "policy/traced.h"
#include "test.h"

enum { NS_PER_INSTRUCTION = 64, TIMES = 1000, MOST_INSTRUCTIONS = 60, RECORDS = 128 };

static dynsel_trace_record records[RECORDS];

/* In place of the library's; a call and its return stay in the count. */
uint64_t dynsel_trace_ticks(void)
{
    return 1;
}

/* Out of line, as the library's callers are. */
__attribute__((noinline)) static void record(const dynsel_selection *selection)
{
    dynsel_traced_put(DYNSEL_TRACE_END, selection, 7, 0);
}

__attribute__((noinline)) static void do_nothing(const dynsel_selection *selection)
{
    __asm__ volatile("" : : "r"(selection));
}

static uint32_t instructions_of(void (*function)(const dynsel_selection *),
                                const dynsel_selection *selection)
{
    const uint64_t began = dynsel_now_ns();
    for (uint32_t i = 0; i < TIMES; i++) {
        function(selection);
    }
    return (uint32_t)(dynsel_now_ns() - began) / NS_PER_INSTRUCTION / TIMES;
}

static void event_takes_at_most_60_instructions(void **state)
{
    static dynsel_policy policy;
    static const dynsel_policy_ops ops = {.name = "none"};
    const dynsel_selection selection = {.policy = &policy, .piece = 1};
    (void)state;
    policy.ops = &ops;
    assert_status(DYNSEL_OK, dynsel_trace_start(records, RECORDS));
    record(&selection); /* takes a ring, and names the policy */
    const uint32_t event = instructions_of(record, &selection);
    const uint32_t call = instructions_of(do_nothing, &selection);
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    assert_true(dynsel_trace_lost() >= TIMES - RECORDS);
    print_message("an event takes %u instructions\n", (unsigned)(event - call));
    assert_true(event - call <= MOST_INSTRUCTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(event_takes_at_most_60_instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
