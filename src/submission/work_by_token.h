/* SPDX-License-Identifier: Apache-2.0 */
/* Work of command groups, found again by its token. */
#ifndef DYNSEL_SUBMISSION_WORK_BY_TOKEN_H
#define DYNSEL_SUBMISSION_WORK_BY_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* The stage of a piece of work, by its token. */
typedef enum dynsel_stage {
    DYNSEL_STAGE_ACCEPTED, /* not started, or ending without a place in a queue */
    DYNSEL_STAGE_STARTED,  /* in its queue, where it ends before what is started there later */
    DYNSEL_STAGE_OVER      /* finished, and its slot may be in use again */
} dynsel_stage;

dynsel_stage dynsel_stage_of(uint32_t token);

/* The same after the slot's `watchers` were set: later changes of the stage are reported. */
dynsel_stage dynsel_stage_of_watched(uint32_t token);

/* Takes a reference to the slot of a piece of work, which keeps its event. False: the work is over.
 * Dropped with dynsel_slot_unref(slot, DYNSEL_SLOT_REF). */
bool dynsel_pending_ref(uint32_t token);

/* The same under the caller's lock, for a moment: never waits. One caller at a time. */
bool dynsel_pending_ref_reserved(uint32_t token);

/* Where started work is marked as complete, has its end told; returns when that is done. For task
 * functions too. */
void dynsel_pending_finish(uint32_t token);

#endif
