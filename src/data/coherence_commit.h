/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of a command group's start on the copies of its buffers, and how it is undone. */
#ifndef DYNSEL_DATA_COHERENCE_COMMIT_H
#define DYNSEL_DATA_COHERENCE_COMMIT_H

#include <stdbool.h>

#include "data/buffer_uses.h"
#include "data/validity.h"

/* The copy in the domain is valid and needs no transfer and no wait. */
static inline bool dynsel_copy_is_resident(const dynsel_buffer_record *record, uint32_t domain)
{
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    return dynsel_is_valid(&record->validity, domain) && copy->since == 0 &&
           record->copy_out.state == DYNSEL_NO_COPY_OUT && copy->memory.mapping == DYNSEL_UNMAPPED;
}

/* Under the lock, for a command group whose dependencies allow the start. The fast path: if all
 * copies are resident and nothing is staged, decides the start as dynsel_coherence_look() would.
 * False: nothing changed. */
bool dynsel_coherence_start_resident(dynsel_uses *uses);

/* Under the lock: enters the effect of the start on the copies; for dynsel_coherence_look(). */
void dynsel_coherence_commit(dynsel_uses *uses);

/* Under the lock: takes back a decided start that did not take place. */
void dynsel_coherence_roll_back(dynsel_uses *uses);

/* Under the lock: undoes the effect of the start on the copies, except for data that were copied
 * in. */
void dynsel_coherence_undo(const dynsel_uses *uses);

/* Under the lock: the same for work whose command did not begin, found out after other work was
 * started behind it. */
void dynsel_coherence_undo_late(const dynsel_uses *uses);

/* Under the lock: started work has failed. Its copies in may be incomplete, and are if the work
 * failed because of a dependency. */
void dynsel_coherence_failed(dynsel_uses *uses, dynsel_status status);

/* Under the lock: the first use whose data failed to be copied in by work ahead on the same
 * resource; NULL: none. */
const dynsel_use *dynsel_coherence_missed(const dynsel_uses *uses);

#endif
