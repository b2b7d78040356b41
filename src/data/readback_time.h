/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a copy back to the host counts for the work that wrote the data, and is reported to
 * its policy if the policy wants it. Under the lock of src/data/buffers.h unless noted.
 */
#ifndef DYNSEL_DATA_READBACK_TIME_H
#define DYNSEL_DATA_READBACK_TIME_H

#include <dynsel/policy.h>

#include "data/buffer_uses.h"
#include "data/buffers.h"

/* The copy time of the current data is not reported. */
static inline void dynsel_readback_forget(dynsel_buffer_record *record)
{
    record->wrote.selection.policy = NULL;
}

/* Remembers the group that writes the data, whose policy wants the copy time. */
DYNSEL_ASIDE void dynsel_readback_remember(dynsel_buffer_record *record, const dynsel_uses *uses);

/* At the start of a group that writes the buffer: a copy back counts for this group. */
static inline void dynsel_readback_expect(dynsel_buffer_record *record, const dynsel_uses *uses)
{
    dynsel_readback_forget(record);
    if (!DYNSEL_LIKELY((dynsel_uses_slot(uses)->selection.wants & DYNSEL_TASK_READBACK_TIME) ==
                       0)) {
        dynsel_readback_remember(record, uses);
    }
}

/* Whether the time of a copy to the host that begins now must be reported. */
bool dynsel_readback_is_wanted(const dynsel_buffer_record *record, const dynsel_uses *uses);

/* Without the lock: the time of the copy to the host counts from now. */
void dynsel_readback_begin(dynsel_copy_out *copy_out);

/* A poll found the copy running. */
void dynsel_readback_goes_on(dynsel_copy_out *copy_out);

/* The copy has completed. */
void dynsel_readback_end(dynsel_buffer_record *record);

/* How many reports are due; a hint without the lock. */
extern dynsel_word dynsel_readback_due;

void dynsel_readback_tell_now(void);

/* Without the lock: sends the reports that are due. */
static inline void dynsel_readback_tell(void)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&dynsel_readback_due) == 0)) {
        dynsel_readback_tell_now();
    }
}

/* Without the lock: a policy is about to end. Afterwards no report to it runs or follows. */
void dynsel_readback_leave(const dynsel_policy *policy);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
void dynsel_readback_forget_all(void);
#endif

#endif
