/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of work, however it ended: it is counted, the policy is told, and the failure of detached
 * work is kept for the wait for the submission group.
 *
 * Work in a queue ends in two steps: slot.c counts it as soon as its end is seen, and queue.c tells
 * the policy in the order of the queue. Work that needs no place in a queue ends in one.
 */
#ifndef DYNSEL_SUBMISSION_FINISH_H
#define DYNSEL_SUBMISSION_FINISH_H

#include <stdbool.h>

#include <dynsel/backend.h>

#include "policy/policy.h"
#include "policy/report.h"
#include "policy/traced.h"

/* How long work took that was complete when `start` returned; 0 unless that is wanted. */
static inline uint64_t dynsel_direct_time(dynsel_work *work)
{
    if ((work->wants & DYNSEL_TASK_TIME) == 0) {
        return 0;
    }
    work->ended_ns = dynsel_now_ns();
    return work->ended_ns > work->ready_ns ? work->ended_ns - work->ready_ns : 1;
}

/* The first half: counts the end of work that its resource has run. */
static inline void dynsel_finish_counted(dynsel_policy *policy, const dynsel_selection *chosen,
                                         dynsel_status status)
{
    dynsel_health_note_result(policy, chosen, status);
}

static inline void dynsel_finish_told_untraced(const dynsel_selection *chosen, dynsel_status status,
                                               uint64_t took_ns)
{
    if (chosen->wants != 0) {
        dynsel_tell_end(chosen, status, took_ns);
    }
}

/* The second half: tells the policy. took_ns: 0: not timed. */
static inline void dynsel_finish_told(const dynsel_selection *chosen, dynsel_status status,
                                      uint64_t took_ns)
{
    dynsel_traced_end(chosen, status, took_ns);
    dynsel_finish_told_untraced(chosen, status, took_ns);
}

/* Both, of work that has no place in a queue. */
static inline void dynsel_finish(dynsel_policy *policy, const dynsel_selection *chosen,
                                 dynsel_status status, uint64_t took_ns)
{
    dynsel_finish_counted(policy, chosen, status);
    dynsel_finish_told(chosen, status, took_ns);
}

/* The same of work that the trace does not know. */
static inline void dynsel_finish_untraced(dynsel_policy *policy, const dynsel_selection *chosen,
                                          dynsel_status status, uint64_t took_ns)
{
    dynsel_finish_counted(policy, chosen, status);
    dynsel_finish_told_untraced(chosen, status, took_ns);
}

/* Keeps the failure of detached work, unless an earlier one is kept already. */
void dynsel_submission_group_note_failure(dynsel_policy *policy, const dynsel_kept_error *error);

/* Fails with the kept failure, and forgets it; waits for one that another thread is writing. */
dynsel_status dynsel_submission_group_take_failure(dynsel_policy *policy);

#endif
