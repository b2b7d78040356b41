/* SPDX-License-Identifier: Apache-2.0 */
/* The events of the work of policies, for the trace; no code without CONFIG_DYNSEL_TRACE. */
#ifndef DYNSEL_POLICY_TRACED_H
#define DYNSEL_POLICY_TRACED_H

#include <dynsel/policy.h>

#include "policy/usable.h"
#include "trace/trace.h"

#if CONFIG_DYNSEL_TRACE

enum { DYNSEL_TRACED_SHIFT = 8 }; /* of the second number in a word */

/* In place of the trace of a policy: it got a learned table; and: another thread is naming it, less
 * the depth of forks, because the thread stays with the parent. No trace has these numbers. */
enum { DYNSEL_TRACED_TAUGHT = INT32_MAX, DYNSEL_TRACED_NAMED_NOW = INT32_MAX - 1 };

/* Names the policy and its resources in the trace that is running; its number there. */
DYNSEL_RARE uint32_t dynsel_traced_enter(dynsel_policy *policy);

static inline uint32_t dynsel_traced_number(dynsel_policy *policy)
{
    return DYNSEL_LIKELY(dynsel_word_load_acquire(&policy->trace_life) == dynsel_trace_life())
               ? dynsel_word_load_relaxed(&policy->trace_number)
               : dynsel_traced_enter(policy);
}

/* Names a resource that was added, if the policy has a name in the trace. */
void dynsel_traced_resource(dynsel_policy *policy, uint32_t index);

static inline dynsel_trace_place dynsel_traced_place(dynsel_policy *policy, uint32_t index,
                                                     uint32_t piece)
{
    return (dynsel_trace_place){.piece = piece,
                                .policy = (uint16_t)dynsel_traced_number(policy),
                                .resource = (uint8_t)index};
}

static inline bool dynsel_traced_is_on(const dynsel_selection *selection)
{
    return dynsel_trace_is_on() && selection->piece != 0; /* others began before the trace */
}

static inline bool dynsel_traced_is_running(void)
{
    return dynsel_trace_is_on();
}

/* The time, for an event that lasts; 0: no trace is running. */
static inline uint64_t dynsel_traced_now(void)
{
    return dynsel_trace_is_on() ? dynsel_trace_ticks() : 0;
}

/* The policy learns what no trace knows. */
static inline void dynsel_traced_note_load(dynsel_policy *policy)
{
    dynsel_word_store_relaxed(&policy->trace_life, DYNSEL_TRACED_TAUGHT);
}

/* What the init function of a policy got beside the resources. */
static inline void dynsel_traced_option(dynsel_policy *policy, uint64_t option)
{
    policy->trace_option = option;
}

/* The clock, for policies. */
static inline uint64_t dynsel_traced_clock(const dynsel_policy *policy)
{
    const uint64_t now_ns = dynsel_now_ns();
    if (dynsel_trace_is_on()) {
        dynsel_trace_put(DYNSEL_TRACE_CLOCK,
                         (dynsel_trace_place){
                             .policy = (uint16_t)dynsel_word_load_relaxed(&policy->trace_number),
                             .resource = DYNSEL_TRACE_NO_RESOURCE},
                         now_ns, 0);
    }
    return now_ns;
}

/* A choice is about to be made: the work gets its number, which was 0. It is not stored again
 * without a trace: selections are copied in larger parts, which would wait for such a store. */
static inline void dynsel_traced_begin(dynsel_selection *selection)
{
    if (dynsel_trace_is_on()) {
        dynsel_trace_enter_thread();
        (void)dynsel_traced_number(selection->policy);
        selection->piece = dynsel_trace_new_piece();
    }
}

/* Names a kind of task, the first time. */
static inline void dynsel_traced_kind(const dynsel_task *task, const char *name)
{
    if (dynsel_trace_is_on()) {
        (void)dynsel_trace_kind(task, name);
    }
}

/* Work was chosen for anew. */
static inline void dynsel_traced_take_over(dynsel_selection *selection,
                                           const dynsel_selection *chosen)
{
    selection->piece = chosen->piece;
}

/* An event of the work of a selection. */
DYNSEL_ASIDE void dynsel_traced_put(dynsel_trace_event event, const dynsel_selection *selection,
                                    uint64_t low, uint64_t high);

/* Work lasted from `since` until now; 0: that is not known. */
static inline void dynsel_traced_since(dynsel_trace_event event, const dynsel_selection *selection,
                                       uint64_t since)
{
    if (since != 0 && dynsel_traced_is_on(selection)) {
        dynsel_traced_put(event, selection, since, 0);
    }
}

static inline void dynsel_traced_report(const dynsel_selection *selection,
                                        dynsel_execution_info info, uint64_t value)
{
    if (dynsel_traced_is_on(selection)) {
        dynsel_traced_put(DYNSEL_TRACE_REPORT, selection, value,
                          (uint32_t)info | (uint32_t)selection->reported << DYNSEL_TRACED_SHIFT);
    }
}

static inline void dynsel_traced_ran(const dynsel_selection *selection, uint64_t since)
{
    dynsel_traced_since(DYNSEL_TRACE_RAN, selection, since);
}

static inline void dynsel_traced_wait(const dynsel_selection *selection, uint64_t since)
{
    dynsel_traced_since(DYNSEL_TRACE_WAIT, selection, since);
}

/* A wait for more than one piece. policy: NULL: of none. */
static inline void dynsel_traced_wait_of_thread(dynsel_trace_event event, dynsel_policy *policy,
                                                uint64_t since)
{
    if (since != 0 && dynsel_trace_is_on()) {
        dynsel_trace_put(event,
                         policy != NULL
                             ? dynsel_traced_place(policy, DYNSEL_TRACE_NO_RESOURCE, 0)
                             : (dynsel_trace_place){.resource = DYNSEL_TRACE_NO_RESOURCE},
                         since, 0);
    }
}

static inline void dynsel_traced_wait_for_all(dynsel_policy *policy, uint64_t since)
{
    dynsel_traced_wait_of_thread(DYNSEL_TRACE_WAIT_ALL, policy, since);
}

static inline void dynsel_traced_wait_for_slot(dynsel_policy *policy, uint64_t since)
{
    dynsel_traced_wait_of_thread(DYNSEL_TRACE_WAIT_SLOT, policy, since);
}

static inline void dynsel_traced_end_of_buffer(uint32_t token, uint64_t since)
{
    if (since != 0 && dynsel_trace_is_on()) {
        dynsel_trace_put(DYNSEL_TRACE_END_BUFFER,
                         (dynsel_trace_place){.resource = DYNSEL_TRACE_NO_RESOURCE}, since, token);
    }
}

/* The backend has accepted the work, which it runs in the caller or later. */
static inline void dynsel_traced_start(const dynsel_selection *selection,
                                       const dynsel_backend *backend, uint64_t since)
{
    dynsel_traced_since(dynsel_outlives_submit(backend) ? DYNSEL_TRACE_START : DYNSEL_TRACE_RAN,
                        selection, since);
}

static inline void dynsel_traced_refused(const dynsel_selection *selection)
{
    if (dynsel_traced_is_on(selection)) {
        dynsel_traced_put(DYNSEL_TRACE_REFUSED, selection, 0, 0);
    }
}

static inline void dynsel_traced_depends(const dynsel_selection *selection,
                                         const dynsel_selection *on)
{
    if (dynsel_traced_is_on(selection)) {
        dynsel_traced_put(DYNSEL_TRACE_DEPENDS, selection, on->piece, 0);
    }
}

/* took_ns: 0: not timed. */
static inline void dynsel_traced_end(const dynsel_selection *selection, dynsel_status status,
                                     uint64_t took_ns)
{
    if (dynsel_traced_is_on(selection)) {
        dynsel_traced_put(DYNSEL_TRACE_END, selection, took_ns,
                          dynsel_trace_pair((uint32_t)status, 0));
    }
}

/* The state of a resource has changed: two of dynsel_resource_state. */
static inline void dynsel_traced_health(dynsel_policy *policy, uint32_t index, uint32_t before,
                                        uint32_t after, dynsel_status cause)
{
    if (dynsel_trace_is_on()) {
        dynsel_trace_put(DYNSEL_TRACE_HEALTH, dynsel_traced_place(policy, index, 0),
                         dynsel_trace_pair(before, after), dynsel_trace_pair((uint32_t)cause, 0));
    }
}

/* The same where resources only go out, and the states have no names. */
static inline void dynsel_traced_out(dynsel_policy *policy, uint32_t index)
{
    enum { IN_SERVICE = 0, OUT_OF_SERVICE = 4 }; /* as dynsel_resource_state */
    dynsel_traced_health(policy, index, IN_SERVICE, OUT_OF_SERVICE, DYNSEL_E_DEVICE);
}

/* The work has ended, and its event is still its own. */
DYNSEL_ASIDE void dynsel_traced_put_device(const dynsel_selection *selection,
                                           const dynsel_work *work);

static inline void dynsel_traced_device(const dynsel_selection *selection, const dynsel_work *work)
{
    if (dynsel_traced_is_on(selection)) {
        dynsel_traced_put_device(selection, work);
    }
}

/* A kernel was built, from `since` until now. */
static inline void dynsel_traced_build(const char *name, uint64_t since)
{
    if (since != 0 && dynsel_trace_is_on()) {
        dynsel_trace_put_build(name, since);
    }
}

/* A run in a thread of its own, after which the selection may be that of other work. */
typedef struct dynsel_traced_run {
    dynsel_trace_place place;
    uint64_t since; /* 0: not traced */
} dynsel_traced_run;

static inline dynsel_traced_run dynsel_traced_run_begin(const dynsel_selection *selection)
{
    dynsel_traced_run run = {.since = 0};
    if (dynsel_traced_is_on(selection)) {
        run.place = dynsel_traced_place(selection->policy, selection->index, selection->piece);
        run.since = dynsel_trace_ticks();
    }
    return run;
}

static inline void dynsel_traced_run_end(const dynsel_traced_run *run)
{
    if (run->since != 0 && dynsel_trace_is_on()) {
        dynsel_trace_put(DYNSEL_TRACE_RAN, run->place, run->since, 0);
    }
}

#else

static inline bool dynsel_traced_is_on(const dynsel_selection *selection)
{
    (void)selection;
    return false;
}

static inline bool dynsel_traced_is_running(void)
{
    return false;
}

static inline uint64_t dynsel_traced_now(void)
{
    return 0;
}

static inline void dynsel_traced_note_load(const dynsel_policy *policy)
{
    (void)policy;
}

static inline void dynsel_traced_resource(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
}

static inline void dynsel_traced_option(const dynsel_policy *policy, uint64_t option)
{
    (void)policy;
    (void)option;
}

static inline uint64_t dynsel_traced_clock(const dynsel_policy *policy)
{
    (void)policy;
    return dynsel_now_ns();
}

static inline void dynsel_traced_begin(const dynsel_selection *selection)
{
    (void)selection;
}

static inline void dynsel_traced_kind(const dynsel_task *task, const char *name)
{
    (void)task;
    (void)name;
}

static inline void dynsel_traced_take_over(const dynsel_selection *selection,
                                           const dynsel_selection *chosen)
{
    (void)selection;
    (void)chosen;
}

static inline void dynsel_traced_report(const dynsel_selection *selection,
                                        dynsel_execution_info info, uint64_t value)
{
    (void)selection;
    (void)info;
    (void)value;
}

static inline void dynsel_traced_ran(const dynsel_selection *selection, uint64_t since)
{
    (void)selection;
    (void)since;
}

static inline void dynsel_traced_wait(const dynsel_selection *selection, uint64_t since)
{
    (void)selection;
    (void)since;
}

static inline void dynsel_traced_wait_for_all(const dynsel_policy *policy, uint64_t since)
{
    (void)policy;
    (void)since;
}

static inline void dynsel_traced_wait_for_slot(const dynsel_policy *policy, uint64_t since)
{
    (void)policy;
    (void)since;
}

static inline void dynsel_traced_end_of_buffer(uint32_t token, uint64_t since)
{
    (void)token;
    (void)since;
}

static inline void dynsel_traced_start(const dynsel_selection *selection,
                                       const dynsel_backend *backend, uint64_t since)
{
    (void)selection;
    (void)backend;
    (void)since;
}

static inline void dynsel_traced_refused(const dynsel_selection *selection)
{
    (void)selection;
}

static inline void dynsel_traced_depends(const dynsel_selection *selection,
                                         const dynsel_selection *on)
{
    (void)selection;
    (void)on;
}

static inline void dynsel_traced_end(const dynsel_selection *selection, dynsel_status status,
                                     uint64_t took_ns)
{
    (void)selection;
    (void)status;
    (void)took_ns;
}

static inline void dynsel_traced_health(const dynsel_policy *policy, uint32_t index,
                                        uint32_t before, uint32_t after, dynsel_status cause)
{
    (void)policy;
    (void)index;
    (void)before;
    (void)after;
    (void)cause;
}

static inline void dynsel_traced_out(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
}

static inline void dynsel_traced_device(const dynsel_selection *selection, const dynsel_work *work)
{
    (void)selection;
    (void)work;
}

static inline void dynsel_traced_build(const char *name, uint64_t since)
{
    (void)name;
    (void)since;
}

typedef struct dynsel_traced_run {
    uint8_t nothing;
} dynsel_traced_run;

static inline dynsel_traced_run dynsel_traced_run_begin(const dynsel_selection *selection)
{
    (void)selection;
    return (dynsel_traced_run){.nothing = 0};
}

static inline void dynsel_traced_run_end(const dynsel_traced_run *run)
{
    (void)run;
}

#endif

#endif
