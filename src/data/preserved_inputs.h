/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of repeatable work: what it reads is valid in the host's memory when it starts, and
 * what it reads and overwrites there is kept.
 */
#ifndef DYNSEL_DATA_PRESERVED_INPUTS_H
#define DYNSEL_DATA_PRESERVED_INPUTS_H

#include "data/buffer_uses.h"

#if CONFIG_DYNSEL_REPEAT

/* Under the lock, when the start of a first run is decided and not yet committed. */
void dynsel_inputs_keep(dynsel_uses *uses);

/* Under the lock, after a first run that failed: the copies are as before it, but that what it
 * overwrote in memory of the host is spoilt. */
void dynsel_inputs_restore(dynsel_uses *uses);

/* Under the lock, when the start of a second run is decided and not yet committed: puts that back,
 * which is valid in the host's memory. */
void dynsel_inputs_put_back(const dynsel_uses *uses);

/* Under the lock: whether the resource uses no memory of the host for this work. */
bool dynsel_inputs_are_apart(const dynsel_uses *uses);

/* The inputs of a decided start that is not yet committed. */
static inline void dynsel_inputs_prepare(dynsel_uses *uses)
{
    if (uses->repeatable) {
        dynsel_inputs_keep(uses);
    } else if (uses->second_run) {
        dynsel_inputs_put_back(uses);
    }
}

#else

static inline void dynsel_inputs_prepare(const dynsel_uses *uses)
{
    (void)uses;
}

#endif

#endif
