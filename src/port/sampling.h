/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is worth doing only once in several times, without a count that threads share.
 *
 * A thread counts for one subject at a time. When it comes to another one the count begins
 * somewhere, so that subjects that take turns in a pattern each get their share.
 */
#ifndef DYNSEL_PORT_SAMPLING_H
#define DYNSEL_PORT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "port/likely.h"
#include "port/thread.h"

/* From now on counts for this subject, from the start or from a place that looks like chance. */
void dynsel_sampling_begin(const void *subject, uint32_t bits);
void dynsel_sampling_begin_anywhere(const void *subject, uint32_t bits);

/* Goes on for the same subject, to another place among the next 2^bits: of what comes in a pattern
 * and is used only in part, such as selections that are dropped, each gets its share too. At
 * most 7 bits. */
void dynsel_sampling_continue(uint32_t bits);

/* True for about one call in 2^bits, and for exactly one of each so many that this thread makes for
 * the same subject without another in between. */
static inline bool dynsel_sampling_is_due(const void *subject, uint32_t bits)
{
    dynsel_thread *thread = dynsel_this_thread();
    if (!DYNSEL_LIKELY(thread->counted == subject)) {
        dynsel_sampling_begin_anywhere(subject, bits);
    }
    if (DYNSEL_LIKELY(thread->countdown != 0)) {
        thread->countdown--;
        return false;
    }
    dynsel_sampling_continue(bits);
    return true;
}

/* For how many calls the last one for which it was time stands. */
static inline uint32_t dynsel_sampling_interval(void)
{
    return dynsel_this_thread()->counted_off;
}

#endif
