/* SPDX-License-Identifier: Apache-2.0 */
#include "port/sampling.h"

enum { PLACE_BITS = 8 }; /* of countdown_place; its upper ones are the place */

static uint32_t scatter(uint32_t number)
{
    const uint32_t mixed = (number ^ (number >> 15)) * 0x85ebca6bu;
    return (mixed ^ (mixed >> 13)) * 0x9e3779b1u;
}

static void begin(dynsel_thread *thread, const void *subject, uint32_t bits, uint32_t countdown)
{
    thread->counted = subject;
    thread->countdown = countdown;
    thread->countdown_place = (uint8_t)(countdown << (PLACE_BITS - bits));
    thread->countdown_length = (uint8_t)(1u << bits); /* counts as a whole interval */
}

void dynsel_sampling_begin(const void *subject, uint32_t bits)
{
    begin(dynsel_this_thread(), subject, bits, (1u << bits) - 1);
}

void dynsel_sampling_continue(uint32_t bits)
{
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t last = (1u << bits) - 1;
    const uint32_t before = (uint32_t)thread->countdown_place >> (PLACE_BITS - bits);
    thread->countdown_place = (uint8_t)(5u * thread->countdown_place + 3); /* all 256, in turn */
    thread->counted_off = thread->countdown_length;
    thread->countdown = last - before + ((uint32_t)thread->countdown_place >> (PLACE_BITS - bits));
    thread->countdown_length = (uint8_t)(thread->countdown + 1);
}

void dynsel_sampling_begin_anywhere(const void *subject, uint32_t bits)
{
    dynsel_thread *thread = dynsel_this_thread();
    begin(thread, subject, bits, scatter(thread->countdowns++) >> (32 - bits));
}
