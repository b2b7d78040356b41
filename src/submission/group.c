/* SPDX-License-Identifier: Apache-2.0 */
/* All work of one policy: waiting for it, and the failure that nobody else would hear of. */
#include "submission/group.h"

#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "port/pause.h"
#include "submission/in_flight.h"
#include "submission/no_waiting.h"

enum { FAILURE_NONE, FAILURE_BEING_COPIED, FAILURE_KEPT };

/* Without threads nobody looks in between. */
static bool begin_to_note(dynsel_policy *policy)
{
    uint32_t expected = FAILURE_NONE;
    return CONFIG_DYNSEL_CONTEXT_THREADS
               ? dynsel_word_swap(&policy->failed, &expected, FAILURE_BEING_COPIED)
               : dynsel_word_load_relaxed(&policy->failed) == FAILURE_NONE;
}

void dynsel_group_note_failure(dynsel_policy *policy, const dynsel_kept_error *error)
{
    if (begin_to_note(policy)) {
        policy->failure = *error;
        dynsel_word_store_release(&policy->failed, FAILURE_KEPT);
    }
}

/* A failure that another thread is just writing down counts. */
static dynsel_status take_failure(dynsel_policy *policy)
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

dynsel_submission_group dynsel_get_submission_group(dynsel_policy *policy)
{
    return (dynsel_submission_group){.policy = policy};
}

dynsel_submission_group dynsel_get_backend_submission_group(dynsel_backend *backend)
{
    return (dynsel_submission_group){.backend = backend};
}

dynsel_status dynsel_wait_group(dynsel_submission_group group)
{
    dynsel_policy *policy = group.policy;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (group.backend == NULL && !dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(DYNSEL_TEXT(__func__),
                                     "the work that is waited for might wait for this function");
    }
    if (group.backend != NULL) {
        return dynsel_in_flight_wait_backend(group.backend); /* failures belong to the policies */
    }
    const dynsel_status status = dynsel_in_flight_wait(policy);
    return status == DYNSEL_OK ? take_failure(policy) : status;
}

void dynsel_progress(void)
{
    if (!dynsel_in_interrupt()) {
        (void)dynsel_in_flight_reap();
    }
}
