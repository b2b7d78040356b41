/* SPDX-License-Identifier: Apache-2.0 */
#include "port/now_and_then.h"

static uint32_t scatter(uint32_t number)
{
    const uint32_t mixed = (number ^ (number >> 15)) * 0x85ebca6bu;
    return (mixed ^ (mixed >> 13)) * 0x9e3779b1u;
}

void dynsel_count_from_start(const void *subject, uint32_t bits)
{
    dynsel_thread *thread = dynsel_this_thread();
    thread->counted = subject;
    thread->countdown = (1u << bits) - 1;
}

void dynsel_count_from_somewhere(const void *subject, uint32_t bits)
{
    dynsel_thread *thread = dynsel_this_thread();
    thread->counted = subject;
    thread->countdown = scatter(thread->countdowns++) >> (32 - bits);
}
