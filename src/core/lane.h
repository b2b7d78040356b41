/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work in flight on one resource of one policy, oldest first.
 *
 * Any thread appends (one exchange); one thread at a time, the reaper, takes finished work off the
 * head. So the cost of reaping follows what has finished, not what is in flight.
 */
#ifndef DYNSEL_CORE_LANE_H
#define DYNSEL_CORE_LANE_H

#include "core/slot.h"

bool dynsel_lane_is_empty(const dynsel_lane *lane);

/* Appends a slot that is published as LISTED. */
void dynsel_lane_append(dynsel_lane *lane, dynsel_slot *slot);

/* Takes finished work off the head, unless another thread is doing so. Never blocks. */
void dynsel_lane_reap(dynsel_lane *lane);

/* Makes the results of all work that was taken off the head visible to the caller. */
void dynsel_lane_synchronize(dynsel_lane *lane, const dynsel_resource *resource);

#endif
