/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of work; no code without CONFIG_DYNSEL_STATISTICS. */
#ifndef DYNSEL_POLICY_STATISTICS_H
#define DYNSEL_POLICY_STATISTICS_H

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_STATISTICS

#include "port/atomic.h"
#include "port/thread.h"

/* The counts of this thread; later threads share the last ones. */
uint32_t dynsel_take_counting_place(dynsel_thread *thread);

static inline uint32_t dynsel_counting_place(void)
{
    if (CONFIG_DYNSEL_COUNTING_THREADS == 1) {
        return 0;
    }
    dynsel_thread *thread = dynsel_this_thread();
    return thread->counting_place != 0 ? thread->counting_place - 1
                                       : dynsel_take_counting_place(thread);
}

static inline void dynsel_count_one(dynsel_word *count, uint32_t place)
{
    if (place + 1 < CONFIG_DYNSEL_COUNTING_THREADS) {
        dynsel_word_store_relaxed(count, dynsel_word_load_relaxed(count) + 1);
    } else {
        (void)dynsel_word_add_relaxed(count, 1);
    }
}

static inline void dynsel_count_submission(dynsel_policy *policy, uint32_t index)
{
    const uint32_t place = dynsel_counting_place();
    dynsel_count_one(&policy->counts[place][index].submitted, place);
}

/* The submission that this thread counted is withdrawn. */
static inline void dynsel_uncount_submission(dynsel_policy *policy, uint32_t index)
{
    const uint32_t place = dynsel_counting_place();
    dynsel_word *const count = &policy->counts[place][index].submitted;
    if (place + 1 < CONFIG_DYNSEL_COUNTING_THREADS) {
        dynsel_word_store_relaxed(count, dynsel_word_load_relaxed(count) - 1);
    } else {
        (void)dynsel_word_add_relaxed(count, (uint32_t)-1);
    }
}

static inline void dynsel_count_end(dynsel_policy *policy, uint32_t index, dynsel_status status)
{
    const uint32_t place = dynsel_counting_place();
    dynsel_count_one(&policy->counts[place][index].completed, place);
    if (status != DYNSEL_OK) {
        dynsel_count_one(&policy->counts[place][index].failed, place);
    }
}

#else

static inline void dynsel_count_submission(dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
}

static inline void dynsel_uncount_submission(dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
}

static inline void dynsel_count_end(dynsel_policy *policy, uint32_t index, dynsel_status status)
{
    (void)policy;
    (void)index;
    (void)status;
}

#endif

#endif
