/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_POLICY_TASK_H
#define DYNSEL_POLICY_TASK_H

#include <stdbool.h>

#include <dynsel/task.h>

/* The simple case, one function for every resource, without a call. */
static inline dynsel_task_fn dynsel_function_for(const dynsel_task *task,
                                                 const dynsel_backend *backend)
{
    return task->form_count == 0 ? task->function : dynsel_task_function_for(task, backend);
}

/* The lowest one of a set that is not empty, as a number. */
static inline uint32_t dynsel_first_aspect(dynsel_aspect_set set)
{
    uint32_t number = 0;
    while ((set >> number & 1u) == 0) {
        number++;
    }
    return number;
}

/* What a device must have for the task. */
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

#endif
