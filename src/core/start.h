/* SPDX-License-Identifier: Apache-2.0 */
/* From a task to work that has been started on a resource. */
#ifndef DYNSEL_CORE_START_H
#define DYNSEL_CORE_START_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/selection.h>

/* What one submitting call was asked for. */
typedef struct dynsel_request {
    const char *function; /* the public function, for error texts */
    dynsel_policy *policy;
    const dynsel_task *task;
    const dynsel_selection *selection; /* NULL: the policy chooses */
    bool may_wait;
} dynsel_request;

/* Chooses a resource, unless a selection is given, and starts the work there. index: out. A failure
 * had no effect. */
dynsel_status dynsel_start(const dynsel_request *request, dynsel_work *work, uint32_t *index);

/* One choice of the policy, checked. */
dynsel_status dynsel_choose(const dynsel_request *request, dynsel_selection *selection);

#endif
