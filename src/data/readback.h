/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bringing data back took belongs to the time of the work that wrote them, and its policy is
 * told, if it wants to know. Under the lock of src/data/buffers.h, but for what says otherwise.
 */
#ifndef DYNSEL_DATA_READBACK_H
#define DYNSEL_DATA_READBACK_H

#include <dynsel/policy.h>

#include "data/buffers.h"
#include "data/uses.h"

/* Nobody is to know of the data that are there now. */
static inline void dynsel_readback_forget(dynsel_buffer_record *record)
{
    record->wrote.selection.policy = NULL;
}

/* It is the group that will have written them; its policy wants to know. */
DYNSEL_ASIDE void dynsel_readback_remember(dynsel_buffer_record *record, const dynsel_uses *uses);

/* From the start of the group on its results are what may be brought back. */
static inline void dynsel_readback_expect(dynsel_buffer_record *record, const dynsel_uses *uses)
{
    dynsel_readback_forget(record);
    if (!DYNSEL_LIKELY((dynsel_uses_slot(uses)->selection.wants & DYNSEL_TASK_READBACK_TIME) ==
                       0)) {
        dynsel_readback_remember(record, uses);
    }
}

/* Whether somebody is to know what a copy to the host takes that begins now for `group`. */
bool dynsel_readback_is_wanted(const dynsel_buffer_record *record, const dynsel_uses *uses);

/* Without the lock, for who is about to begin the copy_out: from here on it takes time. */
void dynsel_readback_begin(dynsel_copy_out *copy_out);

/* It was looked at, and goes on. */
void dynsel_readback_goes_on(dynsel_copy_out *copy_out);

/* It has brought the data. */
void dynsel_readback_end(dynsel_buffer_record *record);

/* How many reports are due; without the lock a hint. */
extern dynsel_word dynsel_readback_due;

void dynsel_readback_tell_now(void);

/* Without the lock: tells policies what is known by now. */
static inline void dynsel_readback_tell(void)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&dynsel_readback_due) == 0)) {
        dynsel_readback_tell_now();
    }
}

/* Without the lock: a policy is about to end. Nobody is telling it anything when this returns, and
 * nobody will. */
void dynsel_readback_leave(const dynsel_policy *policy);

#endif
