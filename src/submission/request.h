/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a submitting call, its deadline and its checks. */
#ifndef DYNSEL_SUBMISSION_REQUEST_H
#define DYNSEL_SUBMISSION_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/selection.h>

#include "base/fail.h"
#include "policy/policy.h"

/* The options of a submitting call; a constant for most calls. */
typedef struct dynsel_submit_options {
    const char *function; /* the public function, for error texts */
    uint64_t deadline_ns; /* until when to wait for a slot or a resource */
    /* The call waits for the work itself. It holds a reference from the beginning, so that its slot
     * does not count as uncollected. */
    bool awaits;
} dynsel_submit_options;

/* The parameters of one submitting call. */
typedef struct dynsel_request {
    const dynsel_submit_options *options;
    dynsel_policy *policy;
    const dynsel_task *task;
    const dynsel_selection *selection; /* NULL: the policy chooses */
} dynsel_request;

/* Deadlines that are not a time. */
#define DYNSEL_DO_NOT_WAIT  ((uint64_t)0)
#define DYNSEL_WAIT_FOREVER UINT64_MAX

#if CONFIG_DYNSEL_IN_FLIGHT
/* Bounds a sleep in case a device fails to report an end. A millisecond is taken as 2^20 ns: small
 * cores compute that without twelve bytes of constants. */
#define DYNSEL_LONGEST_SLEEP_NS ((uint64_t)CONFIG_DYNSEL_LONGEST_SLEEP_MS << 20)
#endif

/* The deadline of a call that may take that long from now on. */
static inline uint64_t dynsel_deadline_after(uint64_t timeout_ns)
{
    const uint64_t now = dynsel_now_ns();
    return timeout_ns < DYNSEL_WAIT_FOREVER - now ? now + timeout_ns : DYNSEL_WAIT_FOREVER;
}

static inline bool dynsel_deadline_passed(uint64_t deadline_ns)
{
    return deadline_ns != DYNSEL_WAIT_FOREVER && dynsel_now_ns() >= deadline_ns;
}

/* Task functions and group functions must not wait: what they wait for might wait for them. Whether
 * this thread is in one. */
static inline bool dynsel_must_not_wait(void)
{
    const dynsel_thread *thread = dynsel_this_thread();
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return (thread->task_depth | thread->recordings) != 0;
#else
    return thread->task_depth != 0;
#endif
}

/* Fails with DYNSEL_E_IN_TASK. detail: for task functions. */
#if CONFIG_DYNSEL_COMMAND_GROUPS
dynsel_status dynsel_refuse_to_wait(const char *function, const char *detail);
#define DYNSEL_REFUSE_TO_WAIT(function_, detail_)                                                  \
    dynsel_refuse_to_wait(function_, DYNSEL_TEXT(detail_))
#else
#define DYNSEL_REFUSE_TO_WAIT(function_, detail_)                                                  \
    DYNSEL_FAIL_IN(function_, DYNSEL_E_IN_TASK, detail_, 0)
#endif

/* Fails because the call must not submit and wait. */
static inline dynsel_status dynsel_refuse_to_await(const char *function)
{
    return DYNSEL_REFUSE_TO_WAIT(function,
                                 "submit without waiting, or wait outside of the task function");
}

/* Whether a call may submit and wait: DYNSEL_OK, or why not. */
static inline dynsel_status dynsel_check_await(const char *function)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    return dynsel_must_not_wait() ? dynsel_refuse_to_await(function) : DYNSEL_OK;
}

/* Fails because the policy or the task cannot be used. */
static inline dynsel_status dynsel_refuse_arguments(const dynsel_policy *policy,
                                                    const char *function)
{
    return dynsel_policy_is_usable(policy)
               ? DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID, "the task is NULL or has no function",
                                0)
               : dynsel_policy_refuse_use(policy, function);
}

static inline bool dynsel_arguments_are_valid(const dynsel_policy *policy, const dynsel_task *task)
{
    return dynsel_policy_is_usable(policy) && dynsel_task_is_valid(task);
}

/* Whether a selection that the program made can be submitted. */
static inline dynsel_status dynsel_check_given(const dynsel_policy *policy,
                                               const dynsel_selection *given, const char *function)
{
    if (given->reported != 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the program reported on this selection itself", 0);
    }
    return dynsel_health_in_service(&policy->queues[given->index])
               ? DYNSEL_OK
               : dynsel_policy_refuse_task(policy, given->index, given->index + 1, NULL);
}

#endif
