/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that pending command groups wait for, so that they are not looked at before. All of it
 * under the lock of src/data/buffers.h unless noted.
 *
 * A command group that waits is in one place: among those to look at, which are taken in the order
 * in which they were entered, or among the watchers of one thing. When that changes it is looked at
 * again, and then it may be started, be ended, or watch something else. It watches one thing at a
 * time, so it is looked at about as often as things stand in its way. What can be watched:
 *
 *     work         until it is started, and until it is over; the core tells with
 *                  dynsel_pending_ops.moved
 *     a copy       until it has begun, and until it has ended; each round polls those that run
 *     staging      until work that has some is over, or gives it back; one watcher for each domain
 *     a resource   that has refused a start for the moment: the first is tried in each round, and
 *                  the others watch it
 *     nothing      what no event tells of, as a policy that has nothing free after a resource was
 *                  lost: to be looked at in each round
 */
#ifndef DYNSEL_GROUPS_WATCH_H
#define DYNSEL_GROUPS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "data/buffers.h"
#include "groups/group.h"
#include "port/likely.h"

/* After a look: watches the obstacle that it found. copy_out: a copy to the host that the caller
 * begins, or NULL. */
void dynsel_watch_obstacle(dynsel_handler *group, dynsel_buffer_record *copy_out);

/* Its resource refuses work at the moment. */
void dynsel_watch_resource(dynsel_handler *group);

/* If its resource refused it at its last look: whether the resource has refused another group
 * since, which it then watches. */
bool dynsel_watch_line(dynsel_handler *group);

/* Nothing: to be looked at in the next round. */
void dynsel_watch_nothing(dynsel_handler *group);

/* To be looked at in this round yet. */
void dynsel_watch_no_longer(dynsel_handler *group);

/* To be looked at, whatever it watches. */
void dynsel_watch_end(dynsel_handler *group);

/* Notifies the watchers of this work, which is neither started nor over; and unless it was refused,
 * the groups in line behind it. */
void dynsel_watch_changed(const dynsel_handler *group);

/* Polls a running copy to the host, and notifies its watchers. */
void dynsel_watch_look_at_copy_out(dynsel_buffer_record *record);

/* Begins a copy to the host with dynsel_copy_out_begin(), and notifies its watchers. */
void dynsel_watch_begin_copy_out(dynsel_buffer_record *record);

/* After dynsel_coherence_look(): notifies the watchers of copies to the host that it ended. */
void dynsel_watch_looked_at(dynsel_uses *uses);

/* The first watching group in slot `number` (from 1 on) or behind; NULL: none. */
dynsel_handler *dynsel_watcher_from(uint32_t number);

/* Of those to look at, the first that was entered; NULL: there is none, or it is one of those that
 * were entered behind `newest`, up to `entries`. It is in no place until it is started, ended, or
 * watches again. */
dynsel_handler *dynsel_watch_take(uint32_t newest, uint32_t entries);

/* At the beginning of a round: groups that watch nothing are looked at. */
void dynsel_watch_begin_round(void);

/* The first buffer from `place` on whose copy to the host is watched; NULL: none. */
dynsel_buffer_record *dynsel_watched_copy_out(uint32_t place);

/* Whether a round would find anything; without the lock it is a hint. */
bool dynsel_watch_is_due(void);

/* dynsel_pending_ops.moved. Takes the lock itself. */
void dynsel_watch_moved(dynsel_slot *slot);

/* How often a command group that waits was looked at; for tests. */
extern uint32_t dynsel_watch_looks;

#endif
