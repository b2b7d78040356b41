/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A machine word that several contexts may change at once.
 *
 * Public structures contain it so that they can have a size; only the library looks inside
 * (src/port/atomic.h). It is a structure and not an _Atomic, so that it has one layout whatever the
 * context is and C++ can include it.
 */
#ifndef DYNSEL_WORD_H
#define DYNSEL_WORD_H

#include <stdint.h>

typedef struct dynsel_word {
    uint32_t value;
} dynsel_word;

#endif
