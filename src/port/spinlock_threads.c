/* SPDX-License-Identifier: Apache-2.0 */
#include "port/spinlock.h"

#include "port/likely.h"
#include "port/pause.h"

void dynsel_spinlock_acquire(dynsel_spinlock *lock)
{
    for (uint32_t round = 0; !DYNSEL_LIKELY(dynsel_word_exchange(&lock->taken, 1) == 0); round++) {
        dynsel_pause(round);
    }
}
