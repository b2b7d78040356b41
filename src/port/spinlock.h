/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for moments, on the way of submissions: one exchange to take it and a store to give it
 * back. Waiters give way to others, and sleep a little when that does not help; so never hold it
 * while something is waited for. */
#ifndef DYNSEL_PORT_SPINLOCK_H
#define DYNSEL_PORT_SPINLOCK_H

#include <dynsel/config.h>

#include "port/atomic.h"

/* All zero: nobody has it. */
typedef struct dynsel_spinlock {
    dynsel_word taken;
} dynsel_spinlock;

/* Without threads there is nobody to wait for. */
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
