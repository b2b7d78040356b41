/* SPDX-License-Identifier: Apache-2.0 */
/* Records the submissions that a command group follows. */
#include <dynsel/command_group.h>

#include "groups/recording.h"
#include "submission/handle.h"
#include "submission/slot_table.h"
#include "submission/work_by_token.h"

/* Tasks come first. */
static dynsel_status add(const dynsel_call *call, uint32_t token, bool is_task)
{
    dynsel_followed *const followed = &call->handler->followed;
    if (dynsel_followed_has(followed, token)) {
        return DYNSEL_OK;
    }
    if (followed->count == CONFIG_DYNSEL_MAX_DEPENDENCIES) {
        return DYNSEL_REFUSE_NUMBER(
            call, DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_DEPENDENCIES,
                          "and this command group depends on more submissions: wait for some, or "
                          "set it to {} or more"),
            CONFIG_DYNSEL_MAX_DEPENDENCIES + 1);
    }
    dynsel_followed_add(followed, dynsel_slot_number_in(token), token, is_task);
    return DYNSEL_OK;
}

/* The caller holds a reference. */
static dynsel_status follow_slot(const dynsel_call *call, dynsel_slot *slot)
{
    const uint32_t token = slot->work.token;
    if (dynsel_stage_of(token) != DYNSEL_STAGE_OVER) {
        return add(call, token, !dynsel_slot_can_be_pending(slot));
    }
    if (slot->work.error.status != DYNSEL_OK) {
        dynsel_followed_fail(&call->handler->followed, &slot->work.error);
    }
    return DYNSEL_OK;
}

static dynsel_status refuse_submission(const dynsel_call *call, uint32_t word)
{
    return word == DYNSEL_SUBMISSION_NONE
               ? DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                               "the submission was never submitted: the one that this call itself "
                               "fills in is not submitted yet")
               : DYNSEL_REFUSE(call, DYNSEL_E_STALE,
                               "the submission was released, or waited for through a copy: submit "
                               "what depends on it before");
}

static void begin_to_follow(dynsel_handler *handler)
{
    if (!dynsel_group_follows(handler)) {
        handler->uncommon |= DYNSEL_GROUP_FOLLOWS;
        dynsel_followed_begin(&handler->followed);
    }
}

dynsel_status dynsel_depends_on(dynsel_handler *handler, const dynsel_submission *submission)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin(&call, submission != NULL);
    if (status != DYNSEL_OK) {
        return status;
    }
    begin_to_follow(handler);
    const uint32_t word = dynsel_word_load_acquire(&submission->slot);
    if (word == DYNSEL_SUBMISSION_COLLECTED) {
        return DYNSEL_OK;
    }
    if (word == DYNSEL_SUBMISSION_COMPLETE) {
        if (submission->error.status != DYNSEL_OK) {
            dynsel_followed_fail(&handler->followed, &submission->error);
        }
        return DYNSEL_OK;
    }
    dynsel_slot *const slot =
        word >= DYNSEL_SUBMISSION_IN_SLOT ? dynsel_in_flight_ref(submission, call.function) : NULL;
    if (slot == NULL) {
        return refuse_submission(&call, word);
    }
    status = follow_slot(&call, slot);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return status;
}
