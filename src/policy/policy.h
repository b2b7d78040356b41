/* SPDX-License-Identifier: Apache-2.0 */
/* What the core and the built-in policies share about policies. */
#ifndef DYNSEL_POLICY_POLICY_H
#define DYNSEL_POLICY_POLICY_H

#include <dynsel/policy.h>

#include "policy/count.h"
#include "policy/task.h"
#include "port/atomic.h"
#include "port/context.h"
#include "port/likely.h"

/* The name of a policy of the library. */
#if CONFIG_DYNSEL_STATUS_NAMES
#define DYNSEL_POLICY_NAME(text) (text)
#else
#define DYNSEL_POLICY_NAME(text) ""
#endif

enum {
    DYNSEL_WAY_WITH_SLOTS = 1, /* in dynsel_policy.ways: some backend's work may outlive a submit */
    DYNSEL_WAY_THROUGH_BACKENDS = 4, /* some backend does more than call the task function */
    DYNSEL_WAY_OF_ITS_OWN =
        2 /* the policy has a submit, try_submit or submit_and_wait, or no try_select */
};

enum {
    DYNSEL_HEALTH_OUT = 1u << 30 /* in dynsel_lane.health, beside the number of failures in a row */
};

enum {
    /* Nothing tells the resources of a policy from each other: what one runs, all run. */
    DYNSEL_RESOURCES_ARE_ALIKE = CONFIG_DYNSEL_SUBMITS_IN_CALLER && !CONFIG_DYNSEL_ASPECTS &&
                                 CONFIG_DYNSEL_MAX_FAILURES == 0,
    /* Submissions without a slot outlive their policy: deinitialization knows nothing of them. With
     * small tables all have one. Where all work is done in the caller, bytes count more than a
     * release that comes too late. */
    DYNSEL_SUBMISSIONS_KNOW_LIFE =
        CONFIG_DYNSEL_SUBMITS_IN_CALLER + CONFIG_DYNSEL_IN_FLIGHT_SMALL == 0,
    /* A policy may choose what a task cannot use: the core refuses it then. */
    DYNSEL_CORE_LOOKS_AT_CHOICE = CONFIG_DYNSEL_IN_FLIGHT_SMALL
};

/* In the operations of a policy that wants to hear of its work, and of how long it takes. */
#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
void dynsel_tell_step(struct dynsel_slot *slot);
void dynsel_note_time(struct dynsel_slot *slot, uint64_t end_ns);
#define DYNSEL_HEARS_STEPS .note_step = dynsel_tell_step,
#define DYNSEL_HEARS_TIMES .note_step = dynsel_tell_step, .note_end = dynsel_note_time,
#else
#define DYNSEL_HEARS_STEPS
#define DYNSEL_HEARS_TIMES
#endif

/* In the operations of a policy that knows no times. */
#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL
#define DYNSEL_LEAVES_OUT_CALLER .leaves_out_caller = true,
#else
#define DYNSEL_LEAVES_OUT_CALLER
#endif

#if !CONFIG_DYNSEL_CUSTOM_POLICIES
/* As the public header says where it has them. */
dynsel_status dynsel_policy_refuse(const dynsel_policy *policy, const dynsel_task *task);
dynsel_reason dynsel_policy_reason_of_only(const dynsel_policy *policy, uint32_t index,
                                           const dynsel_task *task);
#endif

/* Why a policy cannot be used: DYNSEL_E_INVALID or DYNSEL_E_UNINITIALIZED, on behalf of `function`;
 * or DYNSEL_E_CONTEXT. */
DYNSEL_RARE dynsel_status dynsel_policy_refuse_use(const dynsel_policy *policy,
                                                   const char *function);

static inline bool dynsel_policy_is_initialized(const dynsel_policy *policy)
{
    return policy != NULL && policy->self == policy;
}

/* By the caller: not from an interrupt. */
static inline bool dynsel_policy_is_usable(const dynsel_policy *policy)
{
    return dynsel_policy_is_initialized(policy) && !dynsel_in_interrupt();
}

/* The number of this use of the policy, from its initialization to its end; never 0. None is taken
 * before somebody needs it, and none comes twice within 2^31 of them. */
uint32_t dynsel_policy_life(dynsel_policy *policy);

/* life: such a number, of this policy or of an earlier one at its address; 0: none was taken. */
static inline bool dynsel_policy_is_of_life(const dynsel_policy *policy, uint32_t life)
{
    return life == 0 || dynsel_word_load_relaxed(&policy->life) == life;
}

/* DYNSEL_OK, or why a selection of a program cannot be used, on behalf of `function`. */
dynsel_status dynsel_selection_check(const dynsel_selection *selection, const char *function);

/* Whether slots are needed: constant where there is no table of submissions in flight. */
static inline bool dynsel_policy_outlives(const dynsel_policy *policy)
{
    return CONFIG_DYNSEL_IN_FLIGHT && (policy->ways & DYNSEL_WAY_WITH_SLOTS) != 0;
}

/* How many resources are out of service. */
static inline uint32_t dynsel_policy_impairment(const dynsel_policy *policy)
{
#if CONFIG_DYNSEL_LOSES_RESOURCES
    return dynsel_word_load_relaxed(&policy->impaired);
#else
    (void)policy;
    return 0;
#endif
}

static inline bool dynsel_lane_in_service(const dynsel_lane *lane)
{
#if CONFIG_DYNSEL_LOSES_RESOURCES
    return (dynsel_word_load_relaxed(&lane->health) & DYNSEL_HEALTH_OUT) == 0;
#else
    (void)lane;
    return true;
#endif
}

/* What was appended to the lane last; tells whether something came in between. */
static inline uint32_t dynsel_lane_tail(const dynsel_lane *lane)
{
#if CONFIG_DYNSEL_IN_FLIGHT && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    return dynsel_word_load_relaxed(&lane->tail);
#else
    (void)lane;
    return 0;
#endif
}

/* Which of the aspects that the task needs the resource has not. */
static inline dynsel_aspect_set dynsel_lacking(const dynsel_policy *policy, uint32_t index,
                                               const dynsel_task *task)
{
#if CONFIG_DYNSEL_ASPECTS
    return task->aspects & ~policy->aspects[index];
#else
    (void)policy;
    (void)index;
    (void)task;
    return 0;
#endif
}

/* A bit in words of 32 for each resource. */
enum { DYNSEL_PASSED_OVER_WORDS = (CONFIG_DYNSEL_MAX_RESOURCES + 31) / 32 };

/* Not for this resource, whatever forms and aspects say. Only tasks with forms have such. */
static inline bool dynsel_is_passed_over(const dynsel_task *task, uint32_t index)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return task->passed_over != NULL && (task->passed_over[index / 32] >> index % 32 & 1u) != 0;
#else
    (void)task;
    (void)index;
    return false;
#endif
}

/* dynsel_function_at() for tasks that not every resource suits. */
dynsel_task_fn dynsel_form_at(const dynsel_policy *policy, uint32_t index, const dynsel_task *task);

/* The task's function for the resource; NULL when it cannot run there. In service or not. */
static inline dynsel_task_fn dynsel_function_at(const dynsel_policy *policy, uint32_t index,
                                                const dynsel_task *task)
{
    if (DYNSEL_RESOURCES_ARE_ALIKE) {
        return dynsel_task_function_for(task, policy->resources[0].backend);
    }
    if (CONFIG_DYNSEL_ONLY_FORMS_DECIDE) {
        return dynsel_task_function_for(task, policy->resources[index].backend);
    }
    return DYNSEL_LIKELY(dynsel_task_suits_all(task)) ? task->function
                                                      : dynsel_form_at(policy, index, task);
}

/* Nothing distinguishes the resources for this task: each of them may be used. */
static inline bool dynsel_all_are_candidates(const dynsel_policy *policy, const dynsel_task *task)
{
    return DYNSEL_RESOURCES_ARE_ALIKE ||
           DYNSEL_LIKELY(dynsel_task_suits_all(task) && dynsel_policy_impairment(policy) == 0);
}

/* dynsel_policy_may_use() without a call in the simple case. Where all resources are alike, no
 * policy is asked about a task that they do not run. */
static inline bool dynsel_is_candidate(const dynsel_policy *policy, uint32_t index,
                                       const dynsel_task *task)
{
    return DYNSEL_RESOURCES_ARE_ALIKE || (dynsel_lane_in_service(&policy->lanes[index]) &&
                                          dynsel_function_at(policy, index, task) != NULL);
}

/* dynsel_policy_init() for the library's own: `offset` must be in the table. */
dynsel_status dynsel_policy_init_at(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                    const dynsel_options *options, size_t offset);

/* Why none of the resources from `first` to before `end` may be used for `task`. */
DYNSEL_RARE dynsel_status dynsel_policy_refuse_task(const dynsel_policy *policy, uint32_t first,
                                                    uint32_t end, const dynsel_task *task);

/* Work on a resource ended so, and it was a failure, or failures were counted before. */
DYNSEL_RARE void dynsel_lane_note_change(dynsel_policy *policy, uint32_t index,
                                         dynsel_status status);

/* Work on a resource ended so: counts failures of devices in a row. */
static inline void dynsel_lane_note_result(dynsel_policy *policy, uint32_t index,
                                           dynsel_status status)
{
    dynsel_count_end(policy, index, status);
#if CONFIG_DYNSEL_MAX_FAILURES > 0
    if (status != DYNSEL_OK || dynsel_word_load_relaxed(&policy->lanes[index].health) != 0) {
        dynsel_lane_note_change(policy, index, status);
    }
#endif
}

/* Takes a resource out of service. */
void dynsel_lane_retire(dynsel_policy *policy, uint32_t index);

#endif
