/* SPDX-License-Identifier: Apache-2.0 */
/* What a submitting call was asked for, and until when it may wait. */
#ifndef DYNSEL_SUBMISSION_REQUEST_H
#define DYNSEL_SUBMISSION_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/selection.h>

/* How a submitting call was made; a constant for most of them. */
typedef struct dynsel_manner {
    const char *function; /* the public function, for error texts */
    uint64_t deadline_ns; /* until when to wait for a slot or a resource */
    /* The call waits for the work itself: its slot is pinned from the beginning, so that nobody
     * takes it for one that is never collected. */
    bool awaits;
} dynsel_manner;

/* What one submitting call was asked for. */
typedef struct dynsel_request {
    const dynsel_manner *manner;
    dynsel_policy *policy;
    const dynsel_task *task;
    const dynsel_selection *selection; /* NULL: the policy chooses */
} dynsel_request;

/* Deadlines that are not a time. */
#define DYNSEL_DO_NOT_WAIT  ((uint64_t)0)
#define DYNSEL_WAIT_FOREVER UINT64_MAX

#if CONFIG_DYNSEL_IN_FLIGHT
/* In case a device forgets to tell that work has ended. A millisecond of 2^20 ns is near enough,
 * and small cores make the number of it without twelve bytes of constants. */
#define DYNSEL_LONGEST_SLEEP_NS ((uint64_t)CONFIG_DYNSEL_LONGEST_SLEEP_MS << 20)
#endif

/* The deadline of a call that may take that long from now on. */
static inline uint64_t dynsel_deadline_after(uint64_t timeout_ns)
{
    const uint64_t now = dynsel_now_ns();
    return timeout_ns < DYNSEL_WAIT_FOREVER - now ? now + timeout_ns : DYNSEL_WAIT_FOREVER;
}

static inline bool dynsel_deadline_passed(uint64_t deadline_ns)
{
    return deadline_ns != DYNSEL_WAIT_FOREVER && dynsel_now_ns() >= deadline_ns;
}

#endif
