/* SPDX-License-Identifier: Apache-2.0 */
/* The end of work that has no place in a queue, however it ended. Work in a queue ends in two
 * steps: slot.c keeps its result, and lane.c reports it in the order of the queue. */
#ifndef DYNSEL_SUBMISSION_FINISH_H
#define DYNSEL_SUBMISSION_FINISH_H

#include <stdbool.h>

#include <dynsel/backend.h>

#include "policy/policy.h"
#include "policy/report.h"

/* How long work took that was complete when `start` returned; 0 unless that is wanted. */
static inline uint64_t dynsel_time_at_once(dynsel_work *work)
{
    if ((work->wants & DYNSEL_TASK_TIME) == 0) {
        return 0;
    }
    work->ended_ns = dynsel_now_ns();
    return work->ended_ns > work->ready_ns ? work->ended_ns - work->ready_ns : 1;
}

/* Counts the end of work that its resource has run, and tells the policy. took_ns: 0: not timed. */
static inline void dynsel_finish(dynsel_policy *policy, const dynsel_selection *chosen,
                                 dynsel_status status, uint64_t took_ns)
{
    dynsel_lane_note_result(policy, chosen->index, status);
    if (chosen->wants != 0) {
        dynsel_tell_end(chosen, status, took_ns);
    }
}

#endif
