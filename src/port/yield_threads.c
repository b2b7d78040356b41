/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "port/yield.h"

#include <sched.h>

#include <dynsel/backend.h>

/* They take longer than 50 us; the clock may stand. */
enum { MOST_YIELDS = CONFIG_DYNSEL_HAS_HOSTED ? 1024 : 0 };

/* On a busy host one yield takes as long as others use the processor: then the time is over. */
bool dynsel_yield_while(const dynsel_word *word, uint32_t value)
{
    const uint64_t began_ns = MOST_YIELDS != 0 ? dynsel_now_ns() : 0;
    for (uint32_t left = MOST_YIELDS; left != 0 && dynsel_word_load_acquire(word) == value;
         left--) {
        (void)sched_yield();
        if (dynsel_now_ns() - began_ns >= DYNSEL_YIELDING_NS) {
            break;
        }
    }
    return dynsel_word_load_acquire(word) == value;
}
