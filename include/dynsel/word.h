/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A machine word that several contexts may change at once.
 *
 * Public structures contain it so that their size is known; internal
 * (src/port/atomic.h). It is a structure and not an _Atomic, so that it has one layout whatever the
 * context is and C++ can include it.
 */
#ifndef DYNSEL_WORD_H
#define DYNSEL_WORD_H

#include <stdint.h>

#include <dynsel/config.h>

/** A word that several threads or interrupts may change; only the library looks inside. */
typedef struct dynsel_word {
    uint32_t value;
} dynsel_word;

/**
 * A frequently changed word, padded so that no cache line holds two of them: threads that change
 * different words do not slow each other down. Needs no alignment.
 */
typedef union dynsel_busy_word {
    uint32_t value; /* the word's */
    dynsel_word word;
    unsigned char apart[CONFIG_DYNSEL_CONTEXT_THREADS ? 64 : sizeof(dynsel_word)];
} dynsel_busy_word;

#endif
