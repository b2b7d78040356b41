/* SPDX-License-Identifier: Apache-2.0 */
#include "port/brief_lock.h"

#include "port/likely.h"
#include "port/pause.h"

void dynsel_brief_lock_acquire(dynsel_brief_lock *lock)
{
    for (uint32_t round = 0; !DYNSEL_LIKELY(dynsel_word_exchange(&lock->taken, 1) == 0); round++) {
        dynsel_pause(round);
    }
}
