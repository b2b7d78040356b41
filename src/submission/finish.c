/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/finish.h"

#include "base/fail.h"
#include "port/atomic.h"
#include "port/pause.h"

enum { FAILURE_NONE, FAILURE_BEING_COPIED, FAILURE_KEPT };

/* Without threads no other access comes in between. */
static bool begin_to_note(dynsel_policy *policy)
{
    uint32_t expected = FAILURE_NONE;
    return CONFIG_DYNSEL_CONTEXT_THREADS
               ? dynsel_word_swap(&policy->failed, &expected, FAILURE_BEING_COPIED)
               : dynsel_word_load_relaxed(&policy->failed) == FAILURE_NONE;
}

void dynsel_submission_group_note_failure(dynsel_policy *policy, const dynsel_kept_error *error)
{
    if (begin_to_note(policy)) {
        policy->failure = *error;
        dynsel_word_store_release(&policy->failed, FAILURE_KEPT);
    }
}

dynsel_status dynsel_submission_group_take_failure(dynsel_policy *policy)
{
    uint32_t expected = FAILURE_KEPT;
    for (uint32_t round = 0; !dynsel_word_swap(&policy->failed, &expected, FAILURE_BEING_COPIED);
         round++) {
        if (expected == FAILURE_NONE) {
            return DYNSEL_OK;
        }
        expected = FAILURE_KEPT;
        dynsel_pause(round);
    }
    const dynsel_kept_error error = policy->failure;
    dynsel_word_store_release(&policy->failed, FAILURE_NONE);
    return dynsel_fail_again(&error);
}
