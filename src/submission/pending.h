/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is accepted before it can be started: it waits in its slot until its owner starts it.
 * Who defers work (src/groups) keeps what it waits for; the core keeps the slot, and drives it
 * where somebody waits.
 */
#ifndef DYNSEL_SUBMISSION_PENDING_H
#define DYNSEL_SUBMISSION_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/submission.h>

#include "submission/pending_ops.h"
#include "submission/request.h"
#include "submission/slot.h"
#include "submission/stage.h"
#include "submission/wait_until.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* A slot for work of this policy, waited for as the options allow, with work.token. The caller's
 * alone until it is published or given back with dynsel_slot_unclaim(). */
dynsel_status dynsel_pending_claim(dynsel_policy *policy, const dynsel_submit_options *options,
                                   dynsel_slot **slot);

/* Lets the policy choose for request->task, tells it the submission, and fills in the slot's
 * selection and work, all but the start. Waits for a policy that has nothing free if the options
 * allow it. A failure had no effect. */
dynsel_status dynsel_pending_choose(const dynsel_request *request, dynsel_slot *slot);

/* Takes that back, before the slot is published. */
void dynsel_pending_withdraw(dynsel_slot *slot);

/* What becomes of a slot when it is published. */
typedef enum dynsel_initial_state {
    DYNSEL_INITIAL_WAITING,
    DYNSEL_INITIAL_STARTING, /* the caller goes on with dynsel_pending_start() at once */
    DYNSEL_INITIAL_HELD      /* it is taken, until dynsel_pending_fail() */
} dynsel_initial_state;

/* Makes the slot known as accepted. references: DYNSEL_SLOT_HANDLE where somebody will ask, with
 * DYNSEL_SLOT_REF where the call waits itself. */
void dynsel_pending_publish(dynsel_slot *slot, uint32_t references, dynsel_initial_state initial);

/* Fills in the handle of a published slot that has one. */
void dynsel_pending_publish_handle(const dynsel_slot *slot, dynsel_submission *submission);

/* Takes waiting work, to start it or to end it; one caller for one slot. */
void dynsel_pending_take(dynsel_slot *slot);

/* Lets it wait again. */
void dynsel_pending_put_back(dynsel_slot *slot);

/* Starts taken work on the chosen resource. DYNSEL_OK: it was started, and may be over and its slot
 * another's. Any other status: nothing was started, or has failed at once and is held; it is still
 * taken. */
dynsel_status dynsel_pending_start(dynsel_slot *slot);

/* After a refusal with DYNSEL_E_OUT_OF_SERVICE: takes that resource out of service and lets the
 * policy choose again. A failure leaves the old choice. */
dynsel_status dynsel_pending_choose_again(const dynsel_request *request, dynsel_slot *slot);

/* Ends taken work that was not started, or that was held: with the event that it left, if any. */
void dynsel_pending_fail(dynsel_slot *slot, const dynsel_error *error);

#if CONFIG_DYNSEL_PROGRESS_THREAD
/* For who does nothing else: starts what can be started, or waits a while for what keeps other work
 * from its start. round: how often in a row something was waiting. False: nothing waits. */
bool dynsel_pending_help(uint64_t deadline_ns, uint32_t round);
#endif

#endif

#endif
