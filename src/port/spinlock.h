/* SPDX-License-Identifier: Apache-2.0 */
/* A spinlock for the fast path: one exchange to acquire it and a store to release it. Waiters
 * yield, then sleep for short times; never hold it across a wait. */
#ifndef DYNSEL_PORT_SPINLOCK_H
#define DYNSEL_PORT_SPINLOCK_H

#include <dynsel/config.h>

#include "port/atomic.h"

/* All zero: not held. */
typedef struct dynsel_spinlock {
    dynsel_word taken;
} dynsel_spinlock;

/* Without threads there is no contention. */
#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_spinlock_acquire(dynsel_spinlock *lock);
#else
static inline void dynsel_spinlock_acquire(dynsel_spinlock *lock)
{
    (void)lock;
}
#endif

static inline void dynsel_spinlock_release(dynsel_spinlock *lock)
{
#if CONFIG_DYNSEL_CONTEXT_THREADS
    dynsel_word_store_release(&lock->taken, 0);
#else
    (void)lock;
#endif
}

#endif
