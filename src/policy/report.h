/* SPDX-License-Identifier: Apache-2.0 */
/* Telling policies about the work that they placed. */
#ifndef DYNSEL_POLICY_REPORT_H
#define DYNSEL_POLICY_REPORT_H

#include <dynsel/policy.h>

#include "policy/traced.h"
#include "port/likely.h"

/* What the policies of this build need, for the backends of this build to agree with. */
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
#include <dynsel/auto_tune.h>
#define DYNSEL_NEEDS_OF_AUTO_TUNE DYNSEL_AUTO_TUNE_NEEDS
#else
#define DYNSEL_NEEDS_OF_AUTO_TUNE 0
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
#include <dynsel/dynamic_load.h>
#define DYNSEL_NEEDS_OF_DYNAMIC_LOAD DYNSEL_DYNAMIC_LOAD_NEEDS
#else
#define DYNSEL_NEEDS_OF_DYNAMIC_LOAD 0
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
#include <dynsel/earliest_finish.h>
#define DYNSEL_NEEDS_OF_EARLIEST_FINISH DYNSEL_EARLIEST_FINISH_NEEDS
#else
#define DYNSEL_NEEDS_OF_EARLIEST_FINISH 0
#endif

/* fixed_resource and round_robin need nothing. */
#define DYNSEL_NEEDS_OF_POLICIES                                                                   \
    (DYNSEL_NEEDS_OF_AUTO_TUNE | DYNSEL_NEEDS_OF_DYNAMIC_LOAD | DYNSEL_NEEDS_OF_EARLIEST_FINISH)

static inline void dynsel_tell(const dynsel_selection *selection, dynsel_execution_info info,
                               uint64_t value)
{
    selection->policy->ops->report(selection->policy, selection, info, value);
    dynsel_traced_report(selection, info, value);
}

/* The work is about to be started; unless the policy counted it while it chose. */
static inline void dynsel_tell_submission(dynsel_selection *selection)
{
    if ((selection->wants & ~(unsigned)selection->reported & DYNSEL_TASK_SUBMISSION) != 0) {
        dynsel_tell(selection, DYNSEL_TASK_SUBMISSION, 0);
        selection->reported |= DYNSEL_TASK_SUBMISSION;
    }
}

/* Whether a policy of this build may want to hear how long starts take. */
#define DYNSEL_HEARS_STARTS (CONFIG_DYNSEL_POLICY_EARLIEST_FINISH || CONFIG_DYNSEL_CUSTOM_POLICIES)

/* The time before a start; 0: its policy does not want to hear how long it takes. */
static inline uint64_t dynsel_clock_of_start(const dynsel_selection *selection)
{
    return DYNSEL_HEARS_STARTS && (selection->wants & DYNSEL_TASK_START_TIME) != 0 ? dynsel_now_ns()
                                                                                   : 0;
}

/* The work was started, and does not run in the caller. */
static inline void dynsel_tell_start(const dynsel_selection *selection, uint64_t since_ns)
{
    if (DYNSEL_HEARS_STARTS && !DYNSEL_LIKELY(since_ns == 0)) {
        dynsel_tell(selection, DYNSEL_TASK_START_TIME, dynsel_now_ns() - since_ns);
    }
}

/* The work was not started. */
static inline void dynsel_tell_withdrawal(const dynsel_selection *selection)
{
    dynsel_traced_refused(selection);
    if ((selection->reported & DYNSEL_TASK_SUBMISSION) != 0) {
        dynsel_tell(selection, DYNSEL_TASK_WITHDRAWN, 0);
    }
}

/* It is complete. time_ns: what it took; 0: it was not timed. */
static inline void dynsel_tell_end(const dynsel_selection *selection, dynsel_status status,
                                   uint64_t time_ns)
{
    if ((selection->wants & DYNSEL_TASK_TIME) != 0 && status == DYNSEL_OK && time_ns != 0) {
        dynsel_tell(selection, DYNSEL_TASK_TIME, time_ns);
    }
    if ((selection->wants & DYNSEL_TASK_COMPLETION) != 0) {
        dynsel_tell(selection, DYNSEL_TASK_COMPLETION, 0);
    }
}

#endif
