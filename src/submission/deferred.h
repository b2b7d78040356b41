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

#include "submission/slot.h"
#include "submission/start.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* What the core asks of who defers work. There is one such part of the library. */
typedef struct dynsel_deferral {
    /* Starts what can be started; never blocks. Not called while this thread is in a task
     * function. */
    void (*progress)(void);

    /* What has to end before waiting work can be started. DYNSEL_OK: `token` is that of a piece of
     * work that was started and is not over; DYNSEL_E_AGAIN: none that can be waited for, look
     * again; DYNSEL_E_BUSY (with the last error set): it would be waited for for ever. slot:
     * pinned. */
    dynsel_status (*blocker)(const dynsel_slot *slot, uint32_t *token);

    /* Deferred work has ended, however it did, and nobody can see that yet. May change
     * slot->work.error. No lock of the caller's is held but that of the slot's lane. */
    void (*ended)(dynsel_slot *slot);

    /* Whether work whose start failed may not end yet. Its event, if it left one, is not looked at
     * before. */
    bool (*holds)(const dynsel_slot *slot);

    /* A policy of which nothing is in flight is about to leave its resources, and to end. */
    void (*leave)(const dynsel_policy *policy);

    /* The stage of a slot with `watchers` has changed, and everybody can see that; the slot may be
     * another's by now. Held is what `ended` says. */
    void (*moved)(dynsel_slot *slot);
} dynsel_deferral;

/* Makes it known; the same one each time. Before any work is deferred, under a lock of the
 * caller's. */
void dynsel_deferral_register(const dynsel_deferral *deferral);

/* How far a piece of work is, told by its token. */
typedef enum dynsel_stage {
    DYNSEL_STAGE_ACCEPTED, /* not started, or on its way to its end without a place in a lane */
    DYNSEL_STAGE_STARTED,  /* in its lane, where it ends before what is started there later */
    DYNSEL_STAGE_OVER      /* finished, or so long ago that its slot has been used again */
} dynsel_stage;

dynsel_stage dynsel_stage_of(uint32_t token);

/* The same after the slot's `watchers` were set: when the stage changes later, that is seen. */
dynsel_stage dynsel_stage_of_watched(uint32_t token);

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

/* Keeps a piece of work's slot from being freed. False: it is over. For its event, when it was
 * started. Given back with dynsel_slot_drop(slot, DYNSEL_SLOT_PIN). */
bool dynsel_deferred_pin(uint32_t token);

/* The same under the caller's lock, for a moment: never waits. One caller at a time. */
bool dynsel_deferred_pin_reserved(uint32_t token);

/* Where started work is marked as complete, has its end told; returns when that is done. For task
 * functions too. */
void dynsel_deferred_finish(uint32_t token);

/* Starts what can be started, if anything waits and this thread is in no task function. */
static inline void dynsel_deferred_progress(void);

/*
 * The core's own.
 */

/* How much was published and is neither started nor ended, but for what the call that accepted it
 * starts at once: nobody can count on that before the call has returned. */
extern dynsel_word dynsel_deferred_pending;

void dynsel_deferred_progress_now(void);

static inline void dynsel_deferred_progress(void)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_acquire(&dynsel_deferred_pending) == 0)) {
        dynsel_deferred_progress_now();
    }
}

/* What dynsel_deferral.ended is for. */
void dynsel_deferred_tell_end(dynsel_slot *slot);

/* The same, and to the policy's resource, which has run it. */
void dynsel_deferred_tell_run(dynsel_slot *slot);

/* What dynsel_deferral.moved is for: after each change of the stage. */
DYNSEL_RARE void dynsel_deferred_tell_watchers(dynsel_slot *slot);

static inline void dynsel_deferred_moved(dynsel_slot *slot)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&slot->watchers) == 0)) {
        dynsel_deferred_tell_watchers(slot);
    }
}

/* What dynsel_deferral.leave is for. */
void dynsel_deferred_leave(const dynsel_policy *policy);

/* Waits until a pinned slot of deferred work is finished. DYNSEL_E_TIMEOUT: not before the
 * deadline, no last error is set; DYNSEL_E_BUSY: as blocker says. */
dynsel_status dynsel_deferred_settle(dynsel_slot *slot, uint64_t deadline_ns);

#if CONFIG_DYNSEL_PROGRESS_THREAD
/* For who does nothing else: starts what can be started, or waits a while for what keeps other work
 * from its start. round: how often in a row something was waiting. False: nothing waits. */
bool dynsel_deferred_help(uint64_t deadline_ns, uint32_t round);
#endif

/* Waits until the work that was accepted for the policy, or else for the backend, is started. */
dynsel_status dynsel_deferred_wait(const dynsel_policy *policy, const dynsel_backend *backend);

/* Whether the slot cannot become free while this thread waits: its work waits for something that
 * the thread has to do. */
bool dynsel_deferred_is_stuck(dynsel_slot *slot);

#else

static inline bool dynsel_deferred_is_stuck(dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static inline void dynsel_deferred_progress(void)
{
}

static inline void dynsel_deferred_tell_end(dynsel_slot *slot)
{
    (void)slot;
}

static inline void dynsel_deferred_moved(dynsel_slot *slot)
{
    (void)slot;
}

static inline void dynsel_deferred_leave(const dynsel_policy *policy)
{
    (void)policy;
}

static inline dynsel_status dynsel_deferred_settle(dynsel_slot *slot, uint64_t deadline_ns)
{
    (void)slot;
    (void)deadline_ns;
    return DYNSEL_OK;
}

static inline dynsel_status dynsel_deferred_wait(const dynsel_policy *policy,
                                                 const dynsel_backend *backend)
{
    (void)policy;
    (void)backend;
    return DYNSEL_OK;
}

#endif

#endif
