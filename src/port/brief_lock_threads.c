/* SPDX-License-Identifier: Apache-2.0 */
#include "port/brief_lock.h"

#include "port/likely.h"
#include "port/pause.h"

static bool is_taken(const dynsel_brief_lock *lock)
{
    return dynsel_word_load_relaxed(&lock->taken) != 0;
}

DYNSEL_RARE static void wait_and_take(dynsel_brief_lock *lock)
{
    uint32_t round = 0;
    do {
        dynsel_pause(round++);
    } while (is_taken(lock) || dynsel_word_exchange(&lock->taken, 1) != 0);
}

void dynsel_brief_lock_acquire(dynsel_brief_lock *lock)
{
    if (!DYNSEL_LIKELY(dynsel_word_exchange(&lock->taken, 1) == 0)) {
        wait_and_take(lock);
    }
}
