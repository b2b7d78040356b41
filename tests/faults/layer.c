/* SPDX-License-Identifier: Apache-2.0 */
/* Which call is to fail, and what was called. */
#include <string.h>

#include "faults/layer_state.h"

static fault_point point;
static uint32_t calls[FAULT_FUNCTION_COUNT];
static uint32_t commands; /* of point.queue */
static uint32_t callbacks;
static uint32_t failures;
static bool is_suspended;
static bool hit_query;

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
    fault_forget_commands();
    fault_forget_events();
    commands = 0;
    callbacks = 0;
    point = (fault_point){.call = 0};
    failures = 0;
    hit_query = false;
    memset(calls, 0, sizeof(calls));
}

void fault_set(const fault_point *wanted)
{
    point = *wanted;
}

void fault_aim(cl_command_queue queue)
{
    point.queue = queue;
    commands = 0;
}

void fault_aim_at_context(const void *context)
{
    point.context = context;
    commands = 0;
    callbacks = 0;
    memset(calls, 0, sizeof(calls));
}

void fault_clear(void)
{
    point.call = 0;
    fault_let_go();
}

uint32_t fault_calls(fault_function function)
{
    return calls[function];
}

bool fault_hit_query(void)
{
    return hit_query;
}

void fault_note_query(bool is_look)
{
    hit_query = hit_query || (!is_look && failures == 1);
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

static bool is_struck(uint32_t call)
{
    if (point.call == 0 || (point.for_good ? call < point.call : call != point.call)) {
        return false;
    }
    failures++;
    return true;
}

static bool is_elsewhere(const void *subject)
{
    return point.context != NULL && (subject == NULL || fault_context_of(subject) != point.context);
}

bool fault_strikes(fault_function function, const void *subject, cl_int *code)
{
    if (is_suspended || is_elsewhere(subject)) {
        return false;
    }
    const uint32_t call = ++calls[function];
    if (point.end != FAULT_NO_END || point.function != function || !is_struck(call)) {
        return false;
    }
    *code = point.code;
    return true;
}

fault_ending fault_strikes_end(cl_command_queue queue, bool makes_event, cl_int *code)
{
    if ((!makes_event && point.end != FAULT_END_NEVER) || point.end == FAULT_NO_END ||
        point.end >= FAULT_TOLD_TWICE || is_elsewhere(queue) ||
        (point.queue != NULL && point.queue != queue) || !is_struck(++commands)) {
        return FAULT_NO_END;
    }
    *code = point.code;
    return point.end;
}

fault_ending fault_strikes_callback(const void *event)
{
    return point.end >= FAULT_TOLD_TWICE && !is_elsewhere(event) && is_struck(++callbacks)
               ? point.end
               : FAULT_NO_END;
}
