/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a policy: not before its work has ended. */
#include "base/fail.h"
#include "policy/policy.h"
#include "policy/table.h"
#include "submission/in_flight.h"

dynsel_status dynsel_policy_deinit(dynsel_policy *policy)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    const uint32_t out = dynsel_in_flight_retire(policy);
    if (out != 0) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_BUSY, "{} submissions are in flight or were neither waited for nor released",
            out);
    }
    dynsel_table_leave(policy, policy->count);
    *policy = (dynsel_policy){0};
    return DYNSEL_OK;
}
