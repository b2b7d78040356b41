/* SPDX-License-Identifier: Apache-2.0 */
/* How full the table of submissions in flight gets. Each claim tells with CONFIG_DYNSEL_STATISTICS;
 * without it, only who finds the table full, and who asks. */
#ifndef DYNSEL_SUBMISSION_IN_FLIGHT_MARKS_H
#define DYNSEL_SUBMISSION_IN_FLIGHT_MARKS_H

#include <stdint.h>

#include "port/atomic.h"
#include "port/likely.h"

/* The slots that are counted as in use. Behind a claim and before a slot becomes free, so that it
 * is never more than there are. */
extern dynsel_word dynsel_slots_in_use;

extern dynsel_word dynsel_most_in_use;

void dynsel_in_flight_raise_most(uint32_t in_use);

static inline void dynsel_in_flight_note_claim(void)
{
#if CONFIG_DYNSEL_STATISTICS
    const uint32_t in_use = dynsel_word_add_relaxed(&dynsel_slots_in_use, 1) + 1;
    if (!DYNSEL_LIKELY(in_use <= dynsel_word_load_relaxed(&dynsel_most_in_use))) {
        dynsel_in_flight_raise_most(in_use);
    }
#endif
}

static inline void dynsel_in_flight_note_free(void)
{
#if CONFIG_DYNSEL_STATISTICS
    (void)dynsel_word_add_relaxed(&dynsel_slots_in_use, UINT32_MAX);
#endif
}

/* Finished work has been taken off; what is in use now is needed. */
void dynsel_in_flight_note_use(void);

/* A submit went away without a slot. */
void dynsel_in_flight_note_refusal(void);

#endif
