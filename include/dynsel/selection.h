/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Selections: the choice alone, for programs that want to know it before they submit, or that
 * submit by other means.
 *
 * Source: seed 002, "Selection" and "Free Functions".
 */
#ifndef DYNSEL_SELECTION_H
#define DYNSEL_SELECTION_H

#include <stdint.h>

#include <dynsel/resource.h>
#include <dynsel/status.h>
#include <dynsel/task.h>

DYNSEL_BEGIN_DECLS

typedef struct dynsel_policy dynsel_policy;

/** One choice. A bare selection claims nothing and owes nothing: it may be dropped. */
typedef struct dynsel_selection {
    dynsel_policy *policy; /**< who chose; NULL once the selection is consumed */
    uint32_t index;        /**< of the resource in dynsel_get_resources() */
} dynsel_selection;

/**
 * Applies the policy once.
 *
 * task: what is to run, for its forms; borrowed during the call.
 * selection: out; unchanged on failure.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy, a task without any function),
 * DYNSEL_E_UNINITIALIZED, DYNSEL_E_AGAIN (a custom policy has nothing free), DYNSEL_E_UNSUPPORTED
 * (no resource that may be chosen has a form of the task), DYNSEL_E_OUT_OF_SERVICE (those that have
 * one are out of service). May block: no. Context: any thread; task functions. Cost: that of the
 * policy.
 */
DYNSEL_CHECKED dynsel_status dynsel_select(dynsel_policy *policy, const dynsel_task *task,
                                           dynsel_selection *selection);

/**
 * The chosen resource: one of dynsel_get_resources().
 *
 * Returns: borrowed from the policy; NULL with dynsel_last_error() set for NULL (DYNSEL_E_INVALID)
 * and for a consumed selection (DYNSEL_E_STALE). Context: any thread. Cost: constant.
 */
const dynsel_resource *dynsel_selection_unwrap(const dynsel_selection *selection);

/** The policy that chose; NULL for NULL and for a consumed selection. Context: any. Cost: constant.
 */
dynsel_policy *dynsel_selection_policy(const dynsel_selection *selection);

DYNSEL_END_DECLS

#endif
