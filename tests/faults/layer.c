/* SPDX-License-Identifier: Apache-2.0 */
/* Which call is to fail, and what was called. */
#include <string.h>

#include "faults/layer_state.h"

static fault_point point;
static uint32_t calls[FAULT_FUNCTION_COUNT];
static uint32_t failures;
static bool is_suspended;

const char *fault_name(fault_function function)
{
    static const char *const names[] = {
#define FAULT_ENTRY(name) #name,
        FAULT_FUNCTIONS(FAULT_ENTRY) FAULT_FOUND_FUNCTIONS(FAULT_ENTRY)
#undef FAULT_ENTRY
    };
    return names[function];
}

void fault_begin(void)
{
    fault_forget_events();
    point = (fault_point){.call = 0};
    failures = 0;
    memset(calls, 0, sizeof(calls));
}

void fault_set(const fault_point *wanted)
{
    point = *wanted;
}

void fault_clear(void)
{
    point.call = 0;
}

uint32_t fault_calls(fault_function function)
{
    return calls[function];
}

uint32_t fault_failures(void)
{
    return failures;
}

void fault_suspend(bool suspended)
{
    is_suspended = suspended;
}

bool fault_is_suspended(void)
{
    return is_suspended;
}

bool fault_strikes(fault_function function, cl_int *code)
{
    if (is_suspended) {
        return false;
    }
    const uint32_t call = ++calls[function];
    if (point.call == 0 || point.function != function ||
        (point.for_good ? call < point.call : call != point.call)) {
        return false;
    }
    failures++;
    *code = point.code;
    return true;
}
