/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/occupancy.h"

/* Work that comes too late counts for a moment. */
bool dynsel_occupancy_count(dynsel_policy *policy, uint32_t index, dynsel_work *work)
{
    dynsel_word *const users = &policy->queues[index].users;
    work->holds = (dynsel_word_add_synchronized(users, 1) & DYNSEL_OCCUPANCY_CLOSED) == 0;
    if (!work->holds) {
        (void)dynsel_word_add_synchronized(users, (uint32_t)-1);
    }
    return work->holds;
}

void dynsel_occupancy_drop(dynsel_policy *policy, uint32_t index, dynsel_work *work)
{
    work->holds = false;
    (void)dynsel_word_add_synchronized(&policy->queues[index].users, (uint32_t)-1);
}
