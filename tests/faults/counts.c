/* SPDX-License-Identifier: Apache-2.0 */
#include "faults/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CODES = 16 };

static struct {
    uint32_t scenarios;
    uint32_t cases;
    uint32_t left_out;
    uint32_t calls[FAULT_FUNCTION_COUNT]; /* 0: never made to fail */
    cl_int codes[MOST_CODES];
    uint32_t code_count;
    uint32_t ends[FAULT_TOLD_NEVER + 1];
} counts;

bool fault_is_whole(void)
{
    const char *const wanted = getenv("DYNSEL_TEST_FAULTS");
    return wanted != NULL && strcmp(wanted, "all") == 0;
}

void fault_count_scenario(void)
{
    counts.scenarios++;
}

static void count_code(cl_int code)
{
    uint32_t i = 0;
    while (i < counts.code_count && counts.codes[i] != code) {
        i++;
    }
    if (i == counts.code_count && i < MOST_CODES) {
        counts.codes[counts.code_count++] = code;
    }
}

void fault_count_case(const fault_point *point, bool came)
{
    if (came && point->end != FAULT_NO_END) {
        counts.ends[point->end]++;
    } else if (came) {
        counts.cases++;
        count_code(point->code);
    }
}

void fault_count_calls(fault_function function, uint32_t calls)
{
    counts.calls[function] += calls;
}

void fault_count_left_out(uint32_t cases)
{
    counts.left_out += cases;
}

static void print_ends(void)
{
    const uint32_t *const e = counts.ends;
    printf("ends of commands: %u fail, %u are late, %u too early, %u never come; callbacks: %u "
           "come twice, %u late, %u never\n",
           (unsigned)e[FAULT_END_FAILS], (unsigned)e[FAULT_END_LATE], (unsigned)e[FAULT_END_EARLY],
           (unsigned)e[FAULT_END_NEVER], (unsigned)e[FAULT_TOLD_TWICE],
           (unsigned)e[FAULT_TOLD_LATE], (unsigned)e[FAULT_TOLD_NEVER]);
}

static void print_untouched(void)
{
    printf("never made to fail in this run:");
    for (int i = 0; i < FAULT_FUNCTION_COUNT; i++) {
        if (counts.calls[i] == 0) {
            printf(" %s", fault_name((fault_function)i));
        }
    }
    printf("\n");
}

void fault_print_counts(void)
{
    uint32_t functions = 0;
    uint32_t calls = 0;
    for (int i = 0; i < FAULT_FUNCTION_COUNT; i++) {
        functions += counts.calls[i] != 0 ? 1 : 0;
        calls += counts.calls[i];
    }
    printf("faults: %u scenarios\n", (unsigned)counts.scenarios);
    if (counts.cases != 0) {
        printf("calls that fail: %u of %d functions, %u calls, %u codes, %u cases\n",
               (unsigned)functions, (int)FAULT_FUNCTION_COUNT, (unsigned)calls,
               (unsigned)counts.code_count, (unsigned)counts.cases);
    } else {
        print_ends();
    }
    if (!fault_is_whole()) {
        printf("left out: %u cases; DYNSEL_TEST_FAULTS=all plays them\n",
               (unsigned)counts.left_out);
    } else if (counts.cases != 0) {
        print_untouched();
    }
    (void)fflush(stdout);
}
