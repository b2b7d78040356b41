/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of repeatable work: what it reads is valid in the host's memory when it starts, and
 * what it reads and overwrites there is kept.
 */
#ifndef DYNSEL_DATA_PRESERVED_INPUTS_H
#define DYNSEL_DATA_PRESERVED_INPUTS_H

#include "data/buffer_uses.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_REPEAT

/* Under the lock, when the start of a first run is decided and not yet committed. */
void dynsel_inputs_keep(dynsel_uses *uses);

/* Under the lock, after a first run that failed: the copies are as before it, but that what it
 * overwrote in memory of the host is spoilt, and likewise what it discards and only the device had.
 * What was kept counts as overwritten, whatever became of the device. may_write: the device may
 * still do that, in memory of its own; began: the command may have overwritten something. */
DYNSEL_RARE void dynsel_inputs_restore(dynsel_uses *uses, bool may_write, bool began);

/* Under the lock: puts the spoilt contents of a use back, if they were kept, into the host's
 * memory, which no device has. */
void dynsel_inputs_put_back(dynsel_uses *uses, uint32_t index);

/* Under the lock: the spoilt contents of a use cannot be put back. They are valid only where other
 * copies are; without such a copy they stay spoilt. */
DYNSEL_RARE void dynsel_inputs_abandon(dynsel_use *use);

/* Under the lock: whether the resource uses no memory of the host for this work. */
bool dynsel_inputs_are_apart(const dynsel_uses *uses);

/* The inputs of a decided start that is not yet committed. */
static inline void dynsel_inputs_prepare(dynsel_uses *uses)
{
    if (uses->repeatable) {
        dynsel_inputs_keep(uses);
    } else if (uses->second_run) {
        for (uint32_t i = 0; i < uses->count; i++) {
            dynsel_inputs_put_back(uses, i);
        }
    }
}

#else

static inline void dynsel_inputs_prepare(const dynsel_uses *uses)
{
    (void)uses;
}

#endif

#endif
