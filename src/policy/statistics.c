/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/statistics.h"

#include <dynsel/statistics.h>

#include "base/fail.h"
#include "policy/usable.h"

#if CONFIG_DYNSEL_STATISTICS

uint32_t dynsel_take_counting_place(dynsel_thread *thread)
{
    static dynsel_word taken;
    const uint32_t shared = CONFIG_DYNSEL_COUNTING_THREADS - 1;
    uint32_t place = dynsel_word_load_relaxed(&taken);
    while (place < shared && !dynsel_word_swap(&taken, &place, place + 1)) {
    }
    thread->counting_place = place + 1;
    return place;
}

static dynsel_resource_statistics sum_of(const dynsel_policy *policy, size_t index)
{
    dynsel_resource_statistics sum = {0};
    for (uint32_t place = 0; place < CONFIG_DYNSEL_COUNTING_THREADS; place++) {
        const dynsel_counts *counts = &policy->counts[place][index];
        sum.submitted += dynsel_word_load_relaxed(&counts->submitted);
        sum.completed += dynsel_word_load_relaxed(&counts->completed);
        sum.failed += dynsel_word_load_relaxed(&counts->failed);
    }
    return sum;
}

#else

static dynsel_resource_statistics sum_of(const dynsel_policy *policy, size_t index)
{
    (void)policy;
    (void)index;
    return (dynsel_resource_statistics){0};
}

#endif

dynsel_status dynsel_get_statistics(const dynsel_policy *policy, size_t index,
                                    dynsel_resource_statistics *counts)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (index >= dynsel_policy_count(policy) || counts == NULL) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_INVALID, "counts is NULL, or the index is past the {} resources of the policy",
            dynsel_policy_count(policy));
    }
    if (!CONFIG_DYNSEL_STATISTICS) {
        return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "set CONFIG_DYNSEL_STATISTICS");
    }
    *counts = sum_of(policy, index);
    return DYNSEL_OK;
}
