/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static slots: the table of submissions in flight in little code, for one thread, and for backends
 * that report every end with dynsel_complete() or complete their work before `start` returns.
 *
 * The program alone changes the state of a slot:
 *
 *     FREE -> STARTING -> RUNNING -> FINISHED -> FREE
 *
 * An interrupt only closes an open slot, after it wrote the result. So each word has one writer at
 * a time, and only dynsel_complete() needs a critical section.
 */
#ifndef DYNSEL_SUBMISSION_SLOT_TABLE_SMALL_H
#define DYNSEL_SUBMISSION_SLOT_TABLE_SMALL_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/policy.h>

#include "port/atomic.h"

enum {
    DYNSEL_SLOT_FREE = 0,
    DYNSEL_SLOT_STARTING = 1, /* inside of the backend's start */
    DYNSEL_SLOT_RUNNING = 2,  /* until the program reaps it after it was closed */
    DYNSEL_SLOT_FINISHED = 3  /* kept for the handle */
};

typedef struct dynsel_slot {
    dynsel_word open; /* 1: the end may be marked */
    uint8_t state;
    bool asked; /* a handle refers to it */
    dynsel_selection selection;
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    uint64_t took_ns; /* 0: not known */
#endif
    dynsel_work work;
} dynsel_slot;

extern dynsel_slot dynsel_slots[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* Of the table as a whole. */
typedef struct dynsel_in_flight_state {
    dynsel_word ended;   /* 1: an end was marked since the last reap */
    uint32_t last_token; /* each claim takes the next; modulo the number of slots it is the slot */
    uint32_t running;    /* slots in RUNNING */
#if CONFIG_DYNSEL_STATISTICS
    uint32_t in_use; /* slots that are not free */
    uint32_t most_in_use;
    uint32_t refusals;
#endif
} dynsel_in_flight_state;

extern dynsel_in_flight_state dynsel_in_flight;

static inline void dynsel_slot_begin_use(dynsel_slot *slot)
{
    slot->state = DYNSEL_SLOT_STARTING;
#if CONFIG_DYNSEL_STATISTICS
    dynsel_in_flight.in_use++;
    if (dynsel_in_flight.in_use > dynsel_in_flight.most_in_use) {
        dynsel_in_flight.most_in_use = dynsel_in_flight.in_use;
    }
#endif
}

static inline void dynsel_slot_end_use(dynsel_slot *slot)
{
#if CONFIG_DYNSEL_STATISTICS
    dynsel_in_flight.in_use--;
#endif
    slot->state = DYNSEL_SLOT_FREE;
}

/* The only slot that can have this token. */
static inline dynsel_slot *dynsel_slot_of(uint32_t token)
{
    return &dynsel_slots[token % CONFIG_DYNSEL_MAX_IN_FLIGHT];
}

/* Reaps finished work; never blocks. In an interrupt it only returns DYNSEL_E_CONTEXT: each call
 * that waits or submits reaps first. */
dynsel_status dynsel_slots_reap(void);

/* Reports a step to the policy, if it needs reports: before the start (FREE), when the backend
 * refused (STARTING), and when the work is complete (FINISHED). */
void dynsel_slot_note_step(dynsel_slot *slot);

/* Gives back the event, and the slot, of work that is finished. */
void dynsel_slot_free(dynsel_slot *slot);

/* Detaches the slot: from now on a failure is the group's. */
void dynsel_slot_let_go(dynsel_slot *slot);

/* How long a call may wait: the function sleeps until an end may have been marked, and returns
 * false past the deadline. A pointer, so that a program without deadlines links no code for
 * them. */
typedef struct dynsel_wait_policy {
    bool (*backoff)(const struct dynsel_wait_policy *wait_policy);
} dynsel_wait_policy;

typedef struct dynsel_bounded_wait {
    dynsel_wait_policy wait_policy; /* dynsel_backoff_until */
    uint64_t deadline_ns;
} dynsel_bounded_wait;

extern const dynsel_wait_policy dynsel_unbounded_wait;

bool dynsel_backoff_until(const dynsel_wait_policy *wait_policy);

#endif
