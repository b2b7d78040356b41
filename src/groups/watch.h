/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that pending command groups wait for: a group is not looked at before its event. Under
 * the lock of src/data/buffers.h unless noted.
 *
 * A waiting group is either due, or in one list of watchers. When the watched object changes, its
 * watchers become due. Due groups are looked at in the order of their entry; each is then started,
 * ended, or watches another object. A group watches one object at a time, so it is looked at about
 * as often as it has obstacles. The objects:
 *
 *     work         until it is started, or until it is over; src/submission reports that through
 *                  dynsel_pending_ops.moved
 *     a copy       until it has begun, and until it has ended; each round polls running copies
 *     staging      until work with staging memory is over or gives it back; one watcher a domain
 *     a resource   that refused a start for now: each round tries the first group, and the others
 *                  watch that group, in line
 *     nothing      if no event reports the change, for example when a policy has no free resource
 *                  after one was lost: the group is due in each round
 */
#ifndef DYNSEL_GROUPS_WATCH_H
#define DYNSEL_GROUPS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "data/buffers.h"
#include "groups/group.h"
#include "port/likely.h"

/* After a look: watches the obstacle that the look found. copy_out: a copy to the host that the
 * caller begins, or NULL. */
void dynsel_watch_obstacle(dynsel_handler *group, dynsel_buffer_record *copy_out);

/* Watches the resource of the group, which refused its start for now. */
void dynsel_watch_resource(dynsel_handler *group);

/* If the resource refused the group at its last look, and has refused another group since, watches
 * that group. False: it does not watch. */
bool dynsel_watch_line(dynsel_handler *group);

/* The group is due in the next round. */
void dynsel_watch_nothing(dynsel_handler *group);

/* A group in no list becomes due in this round. */
void dynsel_watch_no_longer(dynsel_handler *group);

/* A watching group becomes due. */
void dynsel_watch_end(dynsel_handler *group);

/* Makes the watchers of this work due although it is neither started nor over; and, unless its
 * resource refused it, the groups in line behind it. */
void dynsel_watch_changed(const dynsel_handler *group);

/* Polls a running copy to the host, and notifies its watchers. */
void dynsel_watch_look_at_copy_out(dynsel_buffer_record *record);

/* Begins a copy to the host with dynsel_copy_out_begin(), and notifies its watchers. */
void dynsel_watch_begin_copy_out(dynsel_buffer_record *record);

/* After dynsel_coherence_look(): notifies the watchers of copies to the host that it ended. */
void dynsel_watch_looked_at(dynsel_uses *uses);

/* The first watching group in slot `number` (from 1 on) or behind; NULL: none. */
dynsel_handler *dynsel_watcher_from(uint32_t number);

/* Removes the due group that was entered first; NULL: none, or it was entered after `newest`, up to
 * `entries`. The caller starts or ends it, or makes it watch again. */
dynsel_handler *dynsel_watch_take(uint32_t newest, uint32_t entries);

/* At the beginning of a round: groups that watch nothing become due. */
void dynsel_watch_begin_round(void);

/* The first buffer, from this place in the table on, whose copy to the host is watched; NULL: none.
 * */
dynsel_buffer_record *dynsel_watched_copy_out(uint32_t place);

/* Whether a round has anything to look at; a hint without the lock. */
bool dynsel_watch_is_due(void);

/* dynsel_pending_ops.moved. Takes the lock itself. */
void dynsel_watch_moved(dynsel_slot *slot);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
void dynsel_watch_forget_all(void);
#endif

/* How many due groups were taken; for tests. */
extern uint32_t dynsel_watch_looks;

#endif
