/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling: an action that is due once in several calls, without a counter that threads share.
 *
 * A thread counts for one subject at a time. For a new subject the count begins at a pseudo-random
 * place, so that subjects that alternate in a pattern are sampled alike.
 */
#ifndef DYNSEL_PORT_SAMPLING_H
#define DYNSEL_PORT_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/likely.h"
#include "port/thread.h"

/* Begins anew, as a new thread does. */
static inline void dynsel_sampling_forget(dynsel_thread *thread)
{
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && !CONFIG_DYNSEL_AUTO_TUNE_SMALL
    thread->countdown = 0;
    thread->countdowns = 0;
    thread->countdown_place = 0;
    thread->countdown_length = 0;
    thread->counted_off = 0;
    thread->counted = NULL;
    thread->turns_missed = 0;
#else
    (void)thread;
#endif
}

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && !CONFIG_DYNSEL_AUTO_TUNE_SMALL

/* Begins to count for this subject: from the start, or from a pseudo-random place. */
void dynsel_sampling_begin(const void *subject, uint32_t bits);
void dynsel_sampling_begin_anywhere(const void *subject, uint32_t bits);

/* Continues for the same subject with another place among the next 2^bits, so that patterns in the
 * calls (such as dropped selections) do not bias the sample. At most 7 bits. */
void dynsel_sampling_continue(uint32_t bits);

/* After dynsel_sampling_continue(): the next call is due, too. */
static inline void dynsel_sampling_again(void)
{
    dynsel_thread *thread = dynsel_this_thread();
    thread->countdown = 0;
    thread->countdown_length = 1;
}

/* True for about one call in 2^bits, and for exactly one in each 2^bits consecutive calls of this
 * thread for one subject. */
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

/* The number of calls that the last sampled call stands for. */
static inline uint32_t dynsel_sampling_interval(void)
{
    return dynsel_this_thread()->counted_off;
}

#endif

#endif
