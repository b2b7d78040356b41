/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/traced_choice.h"

enum { CLAIMS_SHIFT = 16 };

void dynsel_traced_put_candidates(const dynsel_selection *selection, const dynsel_task *task)
{
    const dynsel_policy *const policy = selection->policy;
    uint64_t candidates = 0;
    uint64_t forms = 0;
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        const uint64_t bit = (uint64_t)1 << i;
        candidates |= dynsel_is_candidate(policy, i, task) ? bit : 0;
        forms |= dynsel_function_for(task, policy->resources[i].backend) != NULL ? bit : 0;
    }
    dynsel_traced_put(DYNSEL_TRACE_CANDIDATES, selection, candidates, forms);
}

void dynsel_traced_put_choice(const dynsel_selection *selection, const dynsel_task *task,
                              dynsel_status status)
{
    uint32_t why = selection->claims != 0 ? 1u << CLAIMS_SHIFT : 0;
    uint64_t amount = 0;
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    amount = task->amount;
#endif
    why |= status == DYNSEL_OK
               ? selection->reason | (uint32_t)selection->wants << DYNSEL_TRACED_SHIFT
               : (uint16_t)status;
    dynsel_traced_put(status == DYNSEL_OK ? DYNSEL_TRACE_CHOICE : DYNSEL_TRACE_NO_CHOICE, selection,
                      dynsel_trace_pair(dynsel_trace_kind(task, NULL), why), amount);
}
