/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a choice, for the trace; no code without CONFIG_DYNSEL_TRACE. */
#ifndef DYNSEL_POLICY_TRACED_CHOICE_H
#define DYNSEL_POLICY_TRACED_CHOICE_H

#include "policy/candidates.h"
#include "policy/traced.h"

#if CONFIG_DYNSEL_TRACE

DYNSEL_ASIDE void dynsel_traced_put_candidates(const dynsel_selection *selection,
                                               const dynsel_task *task);
DYNSEL_ASIDE void dynsel_traced_put_choice(const dynsel_selection *selection,
                                           const dynsel_task *task, dynsel_status status);

/* Before the choice. */
static inline void dynsel_traced_candidates(const dynsel_selection *selection,
                                            const dynsel_task *task)
{
    if (dynsel_traced_is_on(selection) && !dynsel_all_are_candidates(selection->policy, task)) {
        dynsel_traced_put_candidates(selection, task);
    }
}

/* status: DYNSEL_OK, or why there is none. */
static inline void dynsel_traced_choice(const dynsel_selection *selection, const dynsel_task *task,
                                        dynsel_status status)
{
    if (dynsel_traced_is_on(selection)) {
        dynsel_traced_put_choice(selection, task, status);
    }
}

#else

static inline void dynsel_traced_candidates(const dynsel_selection *selection,
                                            const dynsel_task *task)
{
    (void)selection;
    (void)task;
}

static inline void dynsel_traced_choice(const dynsel_selection *selection, const dynsel_task *task,
                                        dynsel_status status)
{
    (void)selection;
    (void)task;
    (void)status;
}

#endif

#endif
