/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until work is started, and until it is finished. */
#ifndef DYNSEL_SUBMISSION_WAIT_UNTIL_H
#define DYNSEL_SUBMISSION_WAIT_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "submission/slot.h"

/* Waits until a referenced slot is finished. DYNSEL_E_TIMEOUT: not before the deadline (see
 * submission/request.h), no last error is set; DYNSEL_E_BUSY: as dynsel_pending_ops.find_dependency
 * says. */
dynsel_status dynsel_wait_until(dynsel_slot *slot, uint64_t deadline_ns);

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Waits for what keeps waiting work from its start, if that is known. DYNSEL_OK: look again. slot:
 * referenced; round: how often in a row. */
dynsel_status dynsel_wait_for_dependency(const dynsel_slot *slot, uint64_t deadline_ns,
                                         uint32_t round);

/* Waits until the work that was accepted for the policy, or else for the backend, is started;
 * returns as dynsel_wait_until() does. */
dynsel_status dynsel_pending_wait(const dynsel_policy *policy, const dynsel_backend *backend,
                                  uint64_t deadline_ns);

/* Whether the slot cannot become free while this thread waits: its work waits for something that
 * the thread has to do. */
bool dynsel_pending_is_stuck(dynsel_slot *slot);

#else

static inline dynsel_status dynsel_pending_wait(const dynsel_policy *policy,
                                                const dynsel_backend *backend, uint64_t deadline_ns)
{
    (void)policy;
    (void)backend;
    (void)deadline_ns;
    return DYNSEL_OK;
}

static inline bool dynsel_pending_is_stuck(dynsel_slot *slot)
{
    (void)slot;
    return false;
}

#endif

#endif
