/* SPDX-License-Identifier: Apache-2.0 */
/** What a policy reads while it chooses or hears a report: the clock, and predictions of backends.
 * Outside of such a call the clock is the simulator's. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdbool.h>
#include <stdint.h>

enum { INPUTS_MOST = 256 };

/** What was recorded of one call, in the order of the reads. */
typedef struct inputs {
    uint32_t clock_count;
    uint64_t clock_ns[INPUTS_MOST];
    uint32_t prediction_count;
    uint64_t predicted_ns[INPUTS_MOST];
} inputs;

/** Until inputs_end() reads are answered from these. */
void inputs_begin(const inputs *given);

/** True: all of them were read, and nothing else. */
bool inputs_end(void);

/** The next prediction; 0 if there is none left. */
uint64_t inputs_prediction(void);

#endif
