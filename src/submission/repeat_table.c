/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/repeat_table.h"

#include "port/thread.h"
#include "port/wake.h"

dynsel_repeat_record dynsel_repeats[CONFIG_DYNSEL_MAX_IN_FLIGHT];
dynsel_word dynsel_repeats_count;
dynsel_word dynsel_repeats_started;
dynsel_word dynsel_repeats_failed;
dynsel_word dynsel_repeats_nowhere;

void dynsel_repeat_enter(uint32_t slot, uint32_t stage)
{
    dynsel_repeat_record *const record = &dynsel_repeats[slot - 1];
    if (dynsel_word_load_relaxed(&record->stage) == DYNSEL_REPEAT_ARMED) {
        (void)dynsel_word_add_synchronized(&dynsel_repeats_count, 1);
    }
    dynsel_word_store_release(&record->stage, stage);
    dynsel_wake_all(); /* those who sleep until other work ends */
}

void dynsel_repeat_end(uint32_t slot, uint32_t stage)
{
    dynsel_repeat_record *const record = &dynsel_repeats[slot - 1];
    if (record->kept != 0) {
        dynsel_kept_give_back(record->kept);
        record->kept = 0;
    }
    if (dynsel_word_load_relaxed(&record->stage) != DYNSEL_REPEAT_ARMED) {
        (void)dynsel_word_add_synchronized(&dynsel_repeats_count, (uint32_t)-1);
    }
    dynsel_word_store_release(&record->stage, stage);
}

void dynsel_repeat_start_ready(void)
{
    if (dynsel_this_thread()->task_depth == 0) {
        dynsel_repeat_operations.start_ready();
    }
}

dynsel_repeat_statistics dynsel_get_repeat_statistics(void)
{
    return (dynsel_repeat_statistics)
    {
        .repeated = dynsel_word_load_relaxed(&dynsel_repeats_started),
        .failed = dynsel_word_load_relaxed(&dynsel_repeats_failed),
        .nowhere = dynsel_word_load_relaxed(&dynsel_repeats_nowhere),
#if CONFIG_DYNSEL_SHADOW_CHECK
        .compared = dynsel_word_load_relaxed(&dynsel_shadow_compared),
        .mismatched = dynsel_word_load_relaxed(&dynsel_shadow_mismatched),
        .undecided = dynsel_word_load_relaxed(&dynsel_shadow_undecided),
        .unchecked = dynsel_word_load_relaxed(&dynsel_shadow_unchecked),
#endif
    };
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_repeats_forget(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        dynsel_word_store_relaxed(&dynsel_repeats[i].stage, DYNSEL_REPEAT_UNARMED);
        dynsel_repeats[i].kept = 0;
    }
    dynsel_word_store_relaxed(&dynsel_repeats_count, 0);
    dynsel_kept_forget();
}
#endif
