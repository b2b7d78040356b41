/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/shadow_check.h"

#include <string.h>

#include "policy/health.h"
#include "port/atomic.h"

static dynsel_word turn;
dynsel_word dynsel_shadow_compared;
dynsel_word dynsel_shadow_mismatched;
dynsel_word dynsel_shadow_undecided;
dynsel_word dynsel_shadow_unchecked;

static void count(dynsel_word *counter)
{
    (void)dynsel_word_add_relaxed(counter, 1);
}

bool dynsel_shadow_is_due(const dynsel_repeat *repeat)
{
    return repeat->check_one_in != 0 &&
           dynsel_word_add_relaxed(&turn, 1) % repeat->check_one_in == 0;
}

void dynsel_shadow_count_unchecked(void)
{
    count(&dynsel_shadow_unchecked);
}

/* The memory for the results of the first or second run. */
static void *kept(const dynsel_repeat_record *record, uint32_t run)
{
    const uint32_t of_input = record->input.overwritten_bytes != 0 ? 1 : 0;
    return dynsel_kept_memory(record->kept, of_input + run);
}

static void keep(dynsel_repeat_record *record)
{
    (void)memcpy(kept(record, record->result_count), record->input.results,
                 record->input.results_bytes);
    record->result_count++;
}

static void put_back(const dynsel_repeat_record *record, uint32_t run)
{
    (void)memcpy(record->input.results, kept(record, run), record->input.results_bytes);
}

void dynsel_shadow_keep_first(dynsel_repeat_record *record)
{
    if (record->result_count == 0) {
        keep(record);
    }
}

/* Whether the run that has just ended agrees with an earlier one. */
static bool agrees_with(const dynsel_repeat_record *record, uint32_t run)
{
    const dynsel_repeat *const input = &record->input;
    return input->equal != NULL
               ? input->equal(kept(record, run), input->results, input->results_bytes)
               : memcmp(kept(record, run), input->results, input->results_bytes) == 0;
}

static dynsel_verdict judge_second(dynsel_repeat_record *record, const dynsel_selection *first,
                                   bool ran)
{
    if (!ran) {
        count(&dynsel_shadow_unchecked);
        return DYNSEL_FIRST_COUNTS;
    }
    count(&dynsel_shadow_compared);
    if (agrees_with(record, 0)) {
        return DYNSEL_FIRST_COUNTS;
    }
    count(&dynsel_shadow_mismatched);
    keep(record);
    record->second_index = record->index;
    dynsel_health_doubt(first->policy, first->index);
    dynsel_health_doubt(first->policy, record->second_index);
    return DYNSEL_THIRD_DECIDES;
}

static dynsel_verdict judge_third(const dynsel_repeat_record *record, const dynsel_selection *first,
                                  bool ran)
{
    dynsel_verdict verdict = DYNSEL_UNDECIDED;
    if (ran && agrees_with(record, 0)) {
        verdict = DYNSEL_FIRST_COUNTS;
    } else if (ran && agrees_with(record, 1)) {
        verdict = DYNSEL_SECOND_COUNTS;
    } else {
        count(&dynsel_shadow_undecided);
    }
    dynsel_health_decide(first->policy, first->index, verdict != DYNSEL_FIRST_COUNTS);
    dynsel_health_decide(first->policy, record->second_index, verdict != DYNSEL_SECOND_COUNTS);
    return verdict;
}

dynsel_verdict dynsel_shadow_judge(dynsel_repeat_record *record, const dynsel_selection *first,
                                   bool ran)
{
    const dynsel_verdict verdict = record->result_count < DYNSEL_SHADOW_RESULTS
                                       ? judge_second(record, first, ran)
                                       : judge_third(record, first, ran);
    if (verdict == DYNSEL_THIRD_DECIDES) {
        return verdict;
    }
    const bool second_counts = verdict == DYNSEL_SECOND_COUNTS;
    put_back(record, second_counts ? 1 : 0);
    record->index = second_counts ? record->second_index : first->index;
    return verdict;
}
