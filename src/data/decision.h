/* SPDX-License-Identifier: Apache-2.0 */
/* What the start of a command group makes of the copies of its buffers, and how that is undone. */
#ifndef DYNSEL_DATA_DECISION_H
#define DYNSEL_DATA_DECISION_H

#include <stdbool.h>

#include "data/uses.h"
#include "data/validity.h"

/* Nothing is in the way of work in the domain, and nothing has to be done for it. */
static inline bool dynsel_copy_is_resident(const dynsel_buffer_record *record, uint32_t domain)
{
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    return dynsel_is_valid(&record->validity, domain) && copy->since == 0 &&
           record->copy_out.state == DYNSEL_NO_COPY_OUT && copy->memory.mapping == DYNSEL_UNMAPPED;
}

/* Under the lock, for a command group whose order allows the start. The short way of most work on
 * devices: where all of its copies are resident and nothing is staged, it is decided to start it,
 * as dynsel_coherence_look() would. False: nothing was changed. */
bool dynsel_coherence_start_resident(dynsel_uses *uses);

/* Under the lock: enters the effect of the start on the copies; for dynsel_coherence_look(). */
void dynsel_coherence_decide(dynsel_uses *uses);

/* Under the lock: the start that was decided did not take place. */
void dynsel_coherence_take_back(dynsel_uses *uses);

/* Under the lock: takes back what the start would have made of the copies, but for what was brought
 * for it. */
void dynsel_coherence_undo(const dynsel_uses *uses);

/* Under the lock: the same of work whose command did not begin, as was known only after others had
 * come behind it on its resource. */
void dynsel_coherence_undo_late(const dynsel_uses *uses);

/* Under the lock: a start that was decided took place, and the work failed. What it brought may not
 * have arrived; certainly not where it came after what failed. */
void dynsel_coherence_failed(dynsel_uses *uses, dynsel_status status);

/* Under the lock: the first use whose data work ahead on the same resource was to bring and could
 * not; NULL: none. */
const dynsel_use *dynsel_coherence_missed(const dynsel_uses *uses);

#endif
