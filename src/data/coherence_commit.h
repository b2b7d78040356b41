/* SPDX-License-Identifier: Apache-2.0 */
/* Commits the effect of a command group's start on the copies of its buffers, and undoes it. */
#ifndef DYNSEL_DATA_COHERENCE_COMMIT_H
#define DYNSEL_DATA_COHERENCE_COMMIT_H

#include <stdbool.h>

#include "data/buffer_uses.h"
#include "data/validity.h"

/* Whether the copy in the domain is valid and needs no transfer and no wait. */
static inline bool dynsel_copy_is_resident(const dynsel_buffer_record *record, uint32_t domain)
{
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    return dynsel_is_valid(&record->validity, domain) && copy->since == 0 &&
           record->copy_out.state == DYNSEL_NO_COPY_OUT && copy->memory.mapping == DYNSEL_UNMAPPED;
}

/* Under the lock: the copies in other domains that were valid before the start and still exist. */
dynsel_copy_set dynsel_coherence_valid_before(const dynsel_use *use);

/* Under the lock, for a command group whose dependencies allow the start. The fast path: if all
 * copies are resident and no range is staged, commits the start as dynsel_coherence_look() would.
 * False: no effect. */
bool dynsel_coherence_start_resident(dynsel_uses *uses);

/* Under the lock: commits the effect of the start on the copies; for dynsel_coherence_look(). */
void dynsel_coherence_commit(dynsel_uses *uses);

/* Under the lock: rolls back a committed start that did not take place. */
void dynsel_coherence_roll_back(dynsel_uses *uses);

/* Under the lock: undoes the effect of the start on the copies, except that data which were copied
 * in stay valid. */
void dynsel_coherence_undo(const dynsel_uses *uses);

/* Under the lock: the same for work whose command did not begin, if later work may have been
 * started since. */
void dynsel_coherence_undo_late(const dynsel_uses *uses);

/* Under the lock: started work has failed. Its copies in may be incomplete; with status
 * DYNSEL_E_DEPENDENCY they are. */
void dynsel_coherence_failed(dynsel_uses *uses, dynsel_status status);

/* Under the lock: the first use whose data earlier work on the same resource failed to copy in;
 * NULL: none. */
const dynsel_use *dynsel_coherence_missed(const dynsel_uses *uses);

#endif
