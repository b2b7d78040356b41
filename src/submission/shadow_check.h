/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shadow check: a second run of work whose first succeeded, on another resource, and a third
 * where their results differ. The record is that of its thread, as for other second runs.
 */
#ifndef DYNSEL_SUBMISSION_SHADOW_CHECK_H
#define DYNSEL_SUBMISSION_SHADOW_CHECK_H

#include "policy/selection.h"
#include "submission/repeat_table.h"

/* What the runs so far say of the work. */
typedef enum dynsel_verdict {
    DYNSEL_FIRST_COUNTS,  /* its results are those of the first run */
    DYNSEL_SECOND_COUNTS, /* of the second */
    DYNSEL_THIRD_DECIDES, /* another run is needed */
    DYNSEL_UNDECIDED
} dynsel_verdict;

#if CONFIG_DYNSEL_SHADOW_CHECK

enum { DYNSEL_SHADOW_RESULTS = 2 }; /* kept at the same time */

/* Whether it is the turn of this work. */
DYNSEL_RARE bool dynsel_shadow_is_due(const dynsel_repeat *repeat);

/* The record has got blocks for DYNSEL_SHADOW_RESULTS behind that of the input. */
static inline void dynsel_shadow_arm(dynsel_repeat_record *record)
{
    record->checked = true;
}

static inline void dynsel_shadow_disarm(dynsel_repeat_record *record)
{
    record->checked = false;
    record->has_slot = false;
    record->result_count = 0;
}

void dynsel_shadow_count_unchecked(void);

/* Before the second run: keeps the results of the first. */
void dynsel_shadow_keep_first(dynsel_repeat_record *record);

/* After a later run, on resource `index`. first: of the first run. ran: it succeeded. Puts the
 * results that count into the work's memory, unless another run decides. */
dynsel_verdict dynsel_shadow_judge(dynsel_repeat_record *record, const dynsel_selection *first,
                                   bool ran);

#elif CONFIG_DYNSEL_REPEAT

enum { DYNSEL_SHADOW_RESULTS = 0 };

static inline bool dynsel_shadow_is_due(const dynsel_repeat *repeat)
{
    (void)repeat;
    return false;
}

static inline void dynsel_shadow_arm(const dynsel_repeat_record *record)
{
    (void)record;
}

static inline void dynsel_shadow_disarm(const dynsel_repeat_record *record)
{
    (void)record;
}

static inline void dynsel_shadow_count_unchecked(void)
{
}

#endif

#endif
