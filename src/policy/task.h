/* SPDX-License-Identifier: Apache-2.0 */
/* The requirements of a task on a resource. */
#ifndef DYNSEL_POLICY_TASK_H
#define DYNSEL_POLICY_TASK_H

#include <stdbool.h>

#include <dynsel/policy.h>

#include "port/likely.h"

enum {
    /* All resources of a policy are alike: a task that runs on one runs on all. */
    DYNSEL_RESOURCES_ARE_ALIKE =
        CONFIG_DYNSEL_SUBMITS_IN_CALLER && !CONFIG_DYNSEL_ASPECTS && CONFIG_DYNSEL_MAX_FAILURES == 0
};

/* The simple case, one function for every resource, without a call. */
static inline dynsel_task_fn dynsel_function_for(const dynsel_task *task,
                                                 const dynsel_backend *backend)
{
    return task->form_count == 0 ? task->function : dynsel_task_function_for(task, backend);
}

/* The number of the lowest aspect of a set that is not empty. */
static inline uint32_t dynsel_first_aspect(dynsel_aspect_set set)
{
    uint32_t number = 0;
    while ((set >> number & 1u) == 0) {
        number++;
    }
    return number;
}

/* The aspects that the task requires. */
static inline dynsel_aspect_set dynsel_needed_aspects(const dynsel_task *task)
{
#if CONFIG_DYNSEL_ASPECTS
    return task->aspects;
#else
    (void)task;
    return 0;
#endif
}

/* The task may run on every resource that is in service. */
static inline bool dynsel_task_suits_all(const dynsel_task *task)
{
    return task->form_count == 0 && dynsel_needed_aspects(task) == 0;
}

static inline bool dynsel_task_is_valid(const dynsel_task *task)
{
    return task != NULL && (task->form_count == 0 ? task->function != NULL : task->forms != NULL);
}

/* The aspects that the task needs and the resource lacks. */
static inline dynsel_aspect_set dynsel_missing_aspects(const dynsel_policy *policy, uint32_t index,
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
enum { DYNSEL_EXCLUDED_WORDS = (CONFIG_DYNSEL_MAX_RESOURCES + 31) / 32 };

/* Whether the task excludes this resource. Only tasks with forms exclude any. */
static inline bool dynsel_is_excluded(const dynsel_task *task, uint32_t index)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS || CONFIG_DYNSEL_REPEAT
    return task->excluded != NULL && (task->excluded[index / 32] >> index % 32 & 1u) != 0;
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

#endif
