/* SPDX-License-Identifier: Apache-2.0 */
/** Tells in what a repeated choice differs. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "repeat.h"

/** Before the first choice: the repeated policies are traced themselves, which has their
 * estimates. */
void difference_begin(void);

/** The same for each thread that repeats choices. */
void difference_begin_thread(void);

/** The choice that was made last differs. */
void difference_print(const recording *all, const repeated_policy *policy, const call_inputs *in,
                      const dynsel_trace_record *record, const answer *made);

/** A policy read something else while it heard a report. */
void difference_print_report(const repeated_policy *policy, const dynsel_trace_record *record);

#endif
