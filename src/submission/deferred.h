/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is accepted before it can be started: it waits in its slot until whoever deferred it
 * starts it. Who defers work (src/groups) keeps what it waits for; the core keeps the slot, and
 * drives it where somebody waits.
 */
#ifndef DYNSEL_SUBMISSION_DEFERRED_H
#define DYNSEL_SUBMISSION_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/submission.h>

#include "submission/deferral.h"
#include "submission/request.h"
#include "submission/slot.h"
#include "submission/stage.h"
#include "submission/wait_until.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* A slot for work of this policy, waited for as the manner says, with work.token. The caller's
 * alone until it is published or given back with dynsel_slot_unclaim(). */
dynsel_status dynsel_deferred_claim(dynsel_policy *policy, const dynsel_manner *manner,
                                    dynsel_slot **slot);

/* Lets the policy choose for request->task, tells it the submission, and fills in the slot's
 * selection and work, all but the start. Waits for a policy that has nothing free if the manner
 * allows. A failure had no effect. */
dynsel_status dynsel_deferred_choose(const dynsel_request *request, dynsel_slot *slot);

/* Takes that back, before the slot is published. */
void dynsel_deferred_withdraw(dynsel_slot *slot);

/* What becomes of a slot when it is published. */
typedef enum dynsel_course {
    DYNSEL_COURSE_WAITS,
    DYNSEL_COURSE_STARTS, /* the caller goes on with dynsel_deferred_start() at once */
    DYNSEL_COURSE_HELD    /* it is taken, until dynsel_deferred_fail() */
} dynsel_course;

/* Makes the slot known as accepted. keepers: DYNSEL_SLOT_HANDLE where somebody will ask, with
 * DYNSEL_SLOT_PIN where the call waits itself. */
void dynsel_deferred_publish(dynsel_slot *slot, uint32_t keepers, dynsel_course course);

/* Fills in the handle of a published slot that has one. */
void dynsel_deferred_hand_over(const dynsel_slot *slot, dynsel_submission *submission);

/* Takes waiting work, to start it or to end it; one caller for one slot. */
void dynsel_deferred_take(dynsel_slot *slot);

/* Lets it wait again. */
void dynsel_deferred_put_back(dynsel_slot *slot);

/* Starts taken work on the chosen resource. DYNSEL_OK: it was started, and may be over and its slot
 * another's. Any other status: nothing was started, or has failed at once and is held; it is still
 * taken. */
dynsel_status dynsel_deferred_start(dynsel_slot *slot);

/* After a refusal with DYNSEL_E_OUT_OF_SERVICE: takes that resource out of service and lets the
 * policy choose again. A failure leaves the old choice. */
dynsel_status dynsel_deferred_choose_again(const dynsel_request *request, dynsel_slot *slot);

/* Ends taken work that was not started, or that was held: with the event that it left, if any. */
void dynsel_deferred_fail(dynsel_slot *slot, const dynsel_error *error);

#if CONFIG_DYNSEL_PROGRESS_THREAD
/* For who does nothing else: starts what can be started, or waits a while for what keeps other work
 * from its start. round: how often in a row something was waiting. False: nothing waits. */
bool dynsel_deferred_help(uint64_t deadline_ns, uint32_t round);
#endif

#endif

#endif
