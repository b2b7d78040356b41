/* SPDX-License-Identifier: Apache-2.0 */
/** Repeats one call of a policy after the other: its choices, and the reports that it heard. */
#ifndef REPEAT_H
#define REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "inputs.h"
#include "machine.h"
#include "recording.h"

/** What stands in front of the record of a call, in the same ring. */
typedef struct call_inputs {
    uint32_t piece;
    uint32_t policy; /**< that read the clock */
    inputs read;
    bool has_data;
    bool has_candidates;
    uint32_t uses_ahead;
    uint32_t impaired;   /**< resources that were not simply in service */
    uint64_t candidates; /**< a bit each, as in the record */
    uint64_t forms;
    dynsel_data_outlook data;
    uint64_t estimated; /**< resources that have an estimate, a bit each */
    dynsel_trace_record estimates[RECORDING_MOST_RESOURCES];
} call_inputs;

/** A policy that repeats what one of the recording did. */
typedef struct repeated_policy {
    const recorded_policy *recorded;
    uint32_t number;
    bool is_wanted;     /**< it is compared */
    any_policy *policy; /**< NULL: it has not begun, is over, or is none of the library's */
    machine_resource *resources;
    uint64_t choices; /**< so far */
    uint64_t reports;
} repeated_policy;

/** What a policy answered. */
typedef struct answer {
    dynsel_status status;
    dynsel_selection selection;
    bool read_the_same; /**< all that was recorded, and nothing else */
} answer;

/** Takes a record that stands in front of the record of a call; others are ignored. */
void repeat_take(call_inputs *in, const dynsel_trace_record *record);

/** Repeats a DYNSEL_TRACE_CHOICE or DYNSEL_TRACE_NO_CHOICE. The kind is known. */
answer repeat_choice(const recording *all, repeated_policy *policy, const call_inputs *in,
                     const dynsel_trace_record *record);

/** Repeats a DYNSEL_TRACE_REPORT about a selection. True: the policy read the same. */
bool repeat_report(repeated_policy *policy, const call_inputs *in, dynsel_selection *selection,
                   const dynsel_trace_record *record);

/** A call is over: what was in front of it is forgotten. */
void repeat_end(call_inputs *in);

/** Whether the recorded choice and the answer are the same. */
bool repeat_is_same(const dynsel_trace_record *record, const answer *made);

#endif
