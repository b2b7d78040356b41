/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in flight, which goes on after its submit: the table of its slots. As configured, it is
 *
 *     general  any number of threads, and backends that are polled or waited for: slot_table.c
 *              (claims and publishes), collect_from_slot.c, poll_and_cancel.c, wait_for_all.c,
 *              slot_table_check.c
 *     small    static slots for one thread, and backends that tell every end: slot_table_small.c
 *     none     the calls vanish: slot_table_none.h
 */
#ifndef DYNSEL_SUBMISSION_SLOT_TABLE_H
#define DYNSEL_SUBMISSION_SLOT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/statistics.h>
#include <dynsel/submission.h>

#include "submission/request.h"
#if !CONFIG_DYNSEL_IN_FLIGHT
#include "submission/slot_table_none.h"
#elif !CONFIG_DYNSEL_IN_FLIGHT_SMALL
#include "submission/limits.h"
#include "submission/slot.h"
#endif

#if CONFIG_DYNSEL_IN_FLIGHT

/* For statistics and checks. */
dynsel_in_flight_statistics dynsel_in_flight_look_at_table(void);
bool dynsel_in_flight_table_is_whole(void);

/* Reaps finished work of all policies; never blocks. */
void dynsel_in_flight_reap(void);

/* Waits for all work that the policy accepted before the call. DYNSEL_E_BUSY: some of it waits for
 * this thread; DYNSEL_E_TIMEOUT: some of it goes on, no last error is set. */
dynsel_status dynsel_in_flight_wait(dynsel_policy *policy, uint64_t deadline_ns);

/* The same for all work of a backend, whichever policies placed it. */
dynsel_status dynsel_in_flight_wait_backend(const dynsel_backend *backend, uint64_t deadline_ns);

/* Reaps the policy's finished work; returns how many slots it still holds. */
uint32_t dynsel_in_flight_retire(dynsel_policy *policy);

#if CONFIG_DYNSEL_IN_FLIGHT_SMALL

/* Before the policy chooses, so that it has heard of the ends that it wants to hear of. */
void dynsel_in_flight_look(dynsel_policy *policy);

/* Queues are no lists. */
static inline bool dynsel_in_flight_queue_is_whole(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
    return true;
}

#else

bool dynsel_in_flight_queue_is_whole(const dynsel_policy *policy, uint32_t index);

/* What submit.c and collect.c ask of it; static slots have their own, see slot_table_small.h. */

/* Claims a slot for work of the request's policy; waits as the options allow. The caller owns it
 * until it is published or returned with dynsel_slot_unclaim(). slot: out, only on DYNSEL_OK. */
dynsel_status dynsel_in_flight_claim(const dynsel_request *request, dynsel_slot **slot);

/* Whether waiting can free so many slots for the policy. */
bool dynsel_in_flight_can_free(const dynsel_policy *policy, uint32_t count);

/* Publishes started work, and fills in its handle, if any. over: it is complete, and its slot only
 * keeps the result for the handle; awaits: the call itself waits, and gets a reference. */
void dynsel_in_flight_publish(dynsel_slot *slot, bool over, bool awaits,
                              dynsel_submission *submission);

/* dynsel_wait() or dynsel_wait_and_unwrap(), dynsel_submission_release() and
 * dynsel_submission_unwrap() for work that has a slot. */
dynsel_status dynsel_in_flight_collect(dynsel_submission *submission, const char *function,
                                       uint64_t deadline_ns, dynsel_event *done);
dynsel_status dynsel_in_flight_release(const dynsel_submission *submission);
dynsel_status dynsel_in_flight_unwrap(const dynsel_submission *submission, dynsel_event *done);

/* Whether the task function has left its event in slot->work.done, and left it there. slot: the
 * caller holds a reference. */
bool dynsel_in_flight_has_left_event(const dynsel_slot *slot);

/* dynsel_cancel() for work that has a slot. */
dynsel_status dynsel_in_flight_cancel(const dynsel_submission *submission);

/* dynsel_submission_poll() for work that has a slot. */
dynsel_status dynsel_in_flight_poll(const dynsel_submission *submission);

/* Takes a reference to the slot of a submission; NULL (last error set): it was collected. */
dynsel_slot *dynsel_in_flight_ref(const dynsel_submission *submission, const char *function);

/* Waits for a task that was submitted for a call that awaits it, takes its result, and drops both
 * references of the call. submission: the word of the handle, which nobody else has. */
dynsel_status dynsel_in_flight_await(uint32_t submission);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Drops the reference of a submit that waited for its work. slot: the submission's word. */
void dynsel_in_flight_unref(uint32_t slot);
#endif

/* Reaps the policy's finished work, if it uses slots. */
void dynsel_in_flight_reap_policy(dynsel_policy *policy);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Where the policy wants to hear of ends. */
void dynsel_in_flight_look_at(dynsel_policy *policy);
#endif

/* Before the policy chooses, so that it has heard of the ends that it wants to hear of. */
static inline void dynsel_in_flight_look(dynsel_policy *policy)
{
    if (policy->ops->needs != 0) {
#if CONFIG_DYNSEL_COMMAND_GROUPS
        dynsel_in_flight_look_at(policy);
#else
        dynsel_in_flight_reap_policy(policy);
#endif
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Whether work of any policy is running on a resource, identified by its backend's handle. */
bool dynsel_in_flight_is_busy(const dynsel_backend *backend, const void *own);
#endif

#endif

#endif

#endif
