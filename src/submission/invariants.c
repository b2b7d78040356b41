/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of the table of slots and of a policy's queues; the statistics of the table. */
#include <dynsel/statistics.h>

#include "policy/policy.h"
#include "submission/slot_table.h"

dynsel_in_flight_statistics dynsel_get_in_flight_statistics(void)
{
    return dynsel_in_flight_look_at_table();
}

static bool queues_are_in_order(const dynsel_policy *policy)
{
    uint32_t impaired = 0;
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        const uint32_t health = dynsel_health_of(&policy->queues[i]);
        impaired += (health & (DYNSEL_HEALTH_LEAVES | DYNSEL_HEALTH_PROBATION)) != 0 ? 1 : 0;
        if (!dynsel_in_flight_queue_is_whole(policy, i)) {
            return false;
        }
    }
    return impaired == dynsel_policy_impairment(policy);
}

bool dynsel_invariants_hold(const dynsel_policy *policy)
{
    if (!dynsel_in_flight_table_is_whole()) {
        return false;
    }
    if (policy == NULL) {
        return true;
    }
    return dynsel_policy_is_usable(policy) && dynsel_policy_count(policy) >= 1 &&
           dynsel_policy_count(policy) <= CONFIG_DYNSEL_MAX_RESOURCES &&
           queues_are_in_order(policy);
}
