/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/task.h"

dynsel_task_fn dynsel_task_function_for(const dynsel_task *task, const dynsel_backend *backend)
{
    if (task == NULL) {
        return NULL;
    }
    size_t left = task->form_count;
    for (const dynsel_task_form *form = task->forms; form != NULL && left != 0; form++, left--) {
        if (form->backend == NULL || form->backend == backend) {
            return form->function;
        }
    }
    return task->function;
}

dynsel_task_fn dynsel_form_at(const dynsel_policy *policy, uint32_t index, const dynsel_task *task)
{
    return dynsel_missing_aspects(policy, index, task) == 0 && !dynsel_is_excluded(task, index)
               ? dynsel_function_for(task, policy->resources[index].backend)
               : NULL;
}
