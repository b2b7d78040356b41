/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/command_group.h>

#include "base/fail.h"
#include "groups/choose.h"
#include "groups/handler.h"
#include "groups/order.h"
#include "groups/place.h"
#include "groups/pointers.h"
#include "policy/policy.h"
#include "submission/pending.h"
#include "submission/request.h"
#include "submission/slot_table.h"

DYNSEL_RARE static dynsel_status refuse(const dynsel_policy *policy, dynsel_group_fn function,
                                        const dynsel_submit_options *options)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, options->function);
    }
    return function == NULL ? DYNSEL_FAIL_IN(options->function, DYNSEL_E_INVALID,
                                             "the group function is NULL", 0)
                            : DYNSEL_FAIL_IN(options->function, DYNSEL_E_UNSUPPORTED,
                                             "the policy cannot select: it has no try_select", 0);
}

static inline bool is_valid(const dynsel_policy *policy, dynsel_group_fn function)
{
    return DYNSEL_LIKELY(dynsel_policy_is_usable(policy) && function != NULL &&
                         policy->ops->try_select != NULL);
}

/* Runs the group function, which must not wait. */
static inline dynsel_status record(dynsel_handler *group, uint32_t token, dynsel_group_fn function,
                                   void *args)
{
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t failures_before = thread->failure_count;
    dynsel_order_renew(token);
    dynsel_group_begin(group, token, function);
    thread->recordings++;
    const dynsel_status returned = function(group, args);
    thread->recordings--;
    return dynsel_group_close(group, returned, failures_before);
}

static inline uint32_t references_for(const dynsel_submission *submission,
                                      const dynsel_submit_options *options)
{
    if (submission == NULL) {
        return 0;
    }
    return DYNSEL_SLOT_HANDLE | (options->awaits ? (uint32_t)DYNSEL_SLOT_REF : 0u);
}

static inline dynsel_status place(dynsel_handler *group, dynsel_policy *policy,
                                  const dynsel_submit_options *options, uint32_t references)
{
    dynsel_status status = dynsel_place_choose(group, policy, options);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = dynsel_place_enter(group, options, references);
        if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
            dynsel_pending_withdraw(dynsel_slot_of(group));
        }
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK || !group->has_pointers)) {
        dynsel_pointers_let_go(group);
    }
    return status;
}

static dynsel_status submit(dynsel_policy *policy, dynsel_group_fn function, void *args,
                            dynsel_submission *submission, const dynsel_submit_options *options)
{
    if (!is_valid(policy, function)) {
        return refuse(policy, function, options);
    }
    dynsel_slot *slot = NULL;
    dynsel_pending_progress();
    dynsel_status status = dynsel_pending_claim(policy, options, &slot);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    dynsel_handler *group = dynsel_group_of(slot);
    status = record(group, slot->work.token, function, args);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = place(group, policy, options, references_for(submission, options));
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        dynsel_slot_unclaim(slot);
    } else if (submission != NULL) {
        dynsel_pending_publish_handle(slot, submission);
    }
    return status;
}

dynsel_status dynsel_submit_command_group(dynsel_policy *policy, dynsel_group_fn group, void *args,
                                          dynsel_submission *submission)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_command_group"), .deadline_ns = DYNSEL_WAIT_FOREVER};
    return submit(policy, group, args, submission, &options);
}

dynsel_status dynsel_try_submit_command_group(dynsel_policy *policy, dynsel_group_fn group,
                                              void *args, dynsel_submission *submission)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_try_submit_command_group"),
        .deadline_ns = DYNSEL_DO_NOT_WAIT};
    return submit(policy, group, args, submission, &options);
}

dynsel_status dynsel_submit_command_group_for(dynsel_policy *policy, dynsel_group_fn group,
                                              void *args, dynsel_submission *submission,
                                              uint64_t timeout_ns)
{
    const dynsel_submit_options options = {.function = DYNSEL_TEXT(__func__),
                                           .deadline_ns = dynsel_deadline_after(timeout_ns)};
    return submit(policy, group, args, submission, &options);
}

/* Releases the submission, which no other caller has: else its slot would be kept for ever. Work
 * that ended with this status has no slot. */
DYNSEL_RARE static dynsel_status leave(dynsel_submission *submission, const char *function)
{
    dynsel_error busy = *dynsel_last_error();
    busy.function = function;
    const dynsel_status status = dynsel_submission_release(submission);
    (void)status;
    return dynsel_fail(&busy);
}

dynsel_status dynsel_submit_command_group_and_wait(dynsel_policy *policy, dynsel_group_fn group,
                                                   void *args)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_command_group_and_wait"),
        .deadline_ns = DYNSEL_WAIT_FOREVER,
        .awaits = true};
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(
            DYNSEL_TEXT(__func__), "submit without waiting, or wait outside of the task function");
    }
    dynsel_submission submission;
    dynsel_status status = submit(policy, group, args, &submission, &options);
    if (status == DYNSEL_OK) {
        const uint32_t slot = dynsel_word_load_relaxed(&submission.slot);
        status = dynsel_wait(&submission);
        if (status == DYNSEL_E_BUSY) {
            status = leave(&submission, options.function);
        }
        dynsel_in_flight_unref(slot);
    }
    return status;
}
