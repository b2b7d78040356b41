/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_CORE_TASK_H
#define DYNSEL_CORE_TASK_H

#include <stdbool.h>

#include <dynsel/task.h>

/* The simple case, one function for every resource, without a call. */
static inline dynsel_task_fn dynsel_function_for(const dynsel_task *task,
                                                 const dynsel_backend *backend)
{
    return task->form_count == 0 ? task->function : dynsel_task_function_for(task, backend);
}

static inline bool dynsel_task_is_valid(const dynsel_task *task)
{
    return task != NULL && (task->form_count == 0 ? task->function != NULL : task->forms != NULL);
}

#endif
