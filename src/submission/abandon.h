/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is ended although its resource may still be at it, because it ran past its time limit
 * or the resource was given up. */
#ifndef DYNSEL_SUBMISSION_ABANDON_H
#define DYNSEL_SUBMISSION_ABANDON_H

#include <stdbool.h>
#include <stdint.h>

#include "submission/slot.h"

/*
 * Ends running work with DYNSEL_E_GIVEN_UP, unless it has just ended. A backend that may still be
 * using the work keeps a reference to the slot, until it calls dynsel_complete() for it. Reaper
 * only.
 */
void dynsel_slot_abandon(dynsel_slot *slot);

/* Frees the slots of abandoned work that their backends no longer use. */
void dynsel_slots_sweep_abandoned(void);

/* Whether the work of a token was abandoned, and its backend has not told its end yet. */
bool dynsel_slot_was_abandoned(uint32_t token);

/* Whether a resource that was given up may still run the work of this slot, whose run ended with
 * `status`. */
bool dynsel_slot_may_go_on(const dynsel_slot *slot, dynsel_status status);

#endif
