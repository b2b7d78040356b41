/* SPDX-License-Identifier: Apache-2.0 */
/* The table of submissions in flight where there is none: included by submission/slot_table.h. The
 * calls vanish. */
#ifndef DYNSEL_SUBMISSION_SLOT_TABLE_NONE_H
#define DYNSEL_SUBMISSION_SLOT_TABLE_NONE_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/statistics.h>
#include <dynsel/submission.h>

#include "submission/request.h"

static inline dynsel_in_flight_statistics dynsel_in_flight_look_at_table(void)
{
    return (dynsel_in_flight_statistics){0};
}

static inline bool dynsel_in_flight_table_is_whole(void)
{
    return true;
}

static inline bool dynsel_in_flight_queue_is_whole(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
    return true;
}

/* No slots exist in this configuration. */
typedef struct dynsel_slot {
    dynsel_selection selection;
    dynsel_work work;
} dynsel_slot;

static inline dynsel_status dynsel_in_flight_claim(const dynsel_request *request,
                                                   dynsel_slot **slot)
{
    (void)request;
    (void)slot;
    return DYNSEL_E_UNSUPPORTED;
}

static inline void dynsel_limits_set(dynsel_slot *slot, const dynsel_task *task)
{
    (void)slot;
    (void)task;
}

static inline void dynsel_slot_unclaim(dynsel_slot *slot)
{
    (void)slot;
}

static inline void dynsel_in_flight_publish(dynsel_slot *slot, bool over, bool awaits,
                                            dynsel_submission *submission)
{
    (void)slot;
    (void)over;
    (void)awaits;
    (void)submission;
}

static inline dynsel_status dynsel_in_flight_collect(dynsel_submission *submission,
                                                     const char *function, uint64_t deadline_ns,
                                                     dynsel_event *done)
{
    (void)done;
    (void)submission;
    (void)function;
    (void)deadline_ns;
    return DYNSEL_E_STALE;
}

static inline dynsel_status dynsel_in_flight_release(const dynsel_submission *submission)
{
    (void)submission;
    return DYNSEL_E_STALE;
}

static inline dynsel_status dynsel_in_flight_unwrap(const dynsel_submission *submission,
                                                    dynsel_event *done)
{
    (void)submission;
    (void)done;
    return DYNSEL_E_STALE;
}

static inline dynsel_status dynsel_in_flight_cancel(const dynsel_submission *submission)
{
    (void)submission;
    return DYNSEL_E_STALE;
}

static inline dynsel_status dynsel_in_flight_poll(const dynsel_submission *submission)
{
    (void)submission;
    return DYNSEL_E_STALE;
}

static inline dynsel_status dynsel_in_flight_await(uint32_t submission)
{
    (void)submission;
    return DYNSEL_E_STALE;
}

static inline void dynsel_in_flight_look(dynsel_policy *policy)
{
    (void)policy;
}

static inline void dynsel_in_flight_reap(void)
{
}

static inline dynsel_status dynsel_in_flight_wait(dynsel_policy *policy, uint64_t deadline_ns)
{
    (void)policy;
    (void)deadline_ns;
    return DYNSEL_OK;
}

static inline dynsel_status dynsel_in_flight_wait_backend(const dynsel_backend *backend,
                                                          uint64_t deadline_ns)
{
    (void)backend;
    (void)deadline_ns;
    return DYNSEL_OK;
}

static inline uint32_t dynsel_in_flight_retire(dynsel_policy *policy)
{
    (void)policy;
    return 0;
}

#endif
