/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending work: accepted before it can be started. It waits in its slot until its owner
 * (src/groups), which keeps its dependencies, starts it. The core keeps the slot, and drives
 * progress while a thread waits.
 */
#ifndef DYNSEL_SUBMISSION_PENDING_H
#define DYNSEL_SUBMISSION_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/submission.h>

#include "submission/pending_ops.h"
#include "submission/request.h"
#include "submission/slot.h"
#include "submission/wait_until.h"
#include "submission/work_by_token.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Claims a slot, with work.token, for work of this policy; waits as the options allow. The caller
 * owns it until it is published or returned with dynsel_slot_unclaim(). */
dynsel_status dynsel_pending_claim(dynsel_policy *policy, const dynsel_submit_options *options,
                                   dynsel_slot **slot);

/* Lets the policy choose for request->task, tells it the submission, and fills in the slot's
 * selection and work, all but the start. If the policy has no free resource, waits as the options
 * allow. A failure had no effect. */
dynsel_status dynsel_pending_choose(const dynsel_request *request, dynsel_slot *slot);

#if CONFIG_DYNSEL_REPEAT
/* The same, but never waits: a wait may be what calls it. */
dynsel_status dynsel_pending_choose_now(const dynsel_request *request, dynsel_slot *slot);
#endif

/* Withdraws the choice, before the slot is published. */
void dynsel_pending_withdraw(dynsel_slot *slot);

/* The state in which a slot is published. */
typedef enum dynsel_initial_state {
    DYNSEL_INITIAL_WAITING,
    DYNSEL_INITIAL_STARTING, /* the caller goes on with dynsel_pending_start() at once */
    DYNSEL_INITIAL_HELD      /* it is taken, until dynsel_pending_fail() */
} dynsel_initial_state;

/* Makes the slot known as accepted. references: DYNSEL_SLOT_HANDLE if there is a handle, with
 * DYNSEL_SLOT_REF if the call itself waits. */
void dynsel_pending_publish(dynsel_slot *slot, uint32_t references, dynsel_initial_state initial);

/* Fills in the handle of a published slot that has one. */
void dynsel_pending_publish_handle(const dynsel_slot *slot, dynsel_submission *submission);

/* Takes waiting work, to start it or to end it; one caller for one slot. */
void dynsel_pending_take(dynsel_slot *slot);

/* Returns taken work to WAITING. */
void dynsel_pending_put_back(dynsel_slot *slot);

/* Starts taken work on the chosen resource. DYNSEL_OK: it was started, and may be over and its slot
 * another's. Any other status: nothing was started, or has failed at once and is held; it is still
 * taken. */
dynsel_status dynsel_pending_start(dynsel_slot *slot);

#if CONFIG_DYNSEL_REPEAT
/* Starts a second run on the resource that was chosen for it; it may be over then. A failure had no
 * effect. */
dynsel_status dynsel_pending_start_second(dynsel_slot *second);
#endif

/* After a refusal with DYNSEL_E_OUT_OF_SERVICE: takes that resource out of service and lets the
 * policy choose again. A failure leaves the old choice. */
dynsel_status dynsel_pending_choose_again(const dynsel_request *request, dynsel_slot *slot);

/* Ends taken work that was not started, or that was held: with the event that it left, if any. */
void dynsel_pending_fail(dynsel_slot *slot, const dynsel_error *error);

#if CONFIG_DYNSEL_PROGRESS_THREAD
/* For the progress thread: starts ready work, or waits for a dependency of pending work. round: how
 * often in a row work was pending. False: no work is pending. */
bool dynsel_pending_help(uint64_t deadline_ns, uint32_t round);
#endif

#endif

#endif
