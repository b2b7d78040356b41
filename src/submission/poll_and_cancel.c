/* SPDX-License-Identifier: Apache-2.0 */
/* What the holder of a submission can do to work in a slot without waiting for it. */
#include "submission/slot_table.h"

#include "base/fail.h"
#include "submission/handle.h"
#include "submission/pending_ops.h"
#include "submission/slot.h"
#include "submission/wait_until.h"

dynsel_status dynsel_in_flight_poll(const dynsel_submission *submission)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, DYNSEL_TEXT("dynsel_submission_poll"));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const dynsel_status status = dynsel_wait_until(slot, DYNSEL_DO_NOT_WAIT);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return status == DYNSEL_E_TIMEOUT ? DYNSEL_E_AGAIN : status;
}

static dynsel_kept_error cancelled(void)
{
    return DYNSEL_KEPT_ERROR(DYNSEL_E_CANCELLED, "dynsel_cancel",
                             "the program cancelled it before it started");
}

/* Of a slot that is finished: whether its work was cancelled before. */
static dynsel_status refuse_over(const dynsel_slot *slot)
{
    return slot->work.error.status == DYNSEL_E_CANCELLED ? DYNSEL_E_STALE : DYNSEL_E_BUSY;
}

/* Of work that is started, as far as the library knows. */
static dynsel_status cancel_in_backend(dynsel_slot *slot)
{
    dynsel_backend *const backend = slot->work.where->backend;
    if (backend->ops->cancel == NULL || !backend->ops->cancel(backend, &slot->work)) {
        return DYNSEL_E_BUSY;
    }
    slot->work.error = cancelled();
    (void)dynsel_complete(slot->work.token, DYNSEL_OK, 0);
    (void)dynsel_slot_poll(slot);
    return DYNSEL_OK;
}

static dynsel_status cancel(dynsel_slot *slot)
{
    const uint32_t state = dynsel_slot_state(dynsel_word_load_acquire(&slot->word));
    if (state == DYNSEL_SLOT_FINISHED) {
        return refuse_over(slot);
    }
    if (dynsel_slot_can_be_pending(slot)) {
        const dynsel_kept_error error = cancelled();
        return dynsel_pending_cancel(slot, &error);
    }
    return state == DYNSEL_SLOT_RUNNING ? cancel_in_backend(slot) : DYNSEL_E_BUSY;
}

dynsel_status dynsel_in_flight_cancel(const dynsel_submission *submission)
{
    const char *const function = DYNSEL_TEXT("dynsel_cancel");
    dynsel_slot *slot = dynsel_in_flight_ref(submission, function);
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const dynsel_status status = cancel(slot);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    if (status == DYNSEL_OK) {
        (void)dynsel_pending_progress();
        return DYNSEL_OK;
    }
    return status == DYNSEL_E_STALE
               ? DYNSEL_FAIL_IN(function, DYNSEL_E_STALE,
                                "it was cancelled before, or will end without a start anyway", 0)
               : dynsel_refuse_to_cancel(function);
}
