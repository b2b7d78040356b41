/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/failed_work.h"

#include "port/atomic.h"

/* The last failure in a slot. Written by the thread that ends work there; a reader may come when
 * the slot is used again, so it looks at the token before and after. */
typedef struct record {
    dynsel_word token; /* + 1; 0: none, or it is being written */
    dynsel_word status;
    dynsel_word code;
    dynsel_word number;
} record;

static record failed[CONFIG_DYNSEL_MAX_IN_FLIGHT];

void dynsel_failed_work_note(uint32_t slot, uint32_t token, const dynsel_kept_error *error)
{
    record *const it = &failed[slot - 1];
    const dynsel_cause cause = dynsel_cause_of(error);
    (void)dynsel_word_exchange(&it->token, 0);
    dynsel_word_store_relaxed(&it->status, (uint32_t)cause.status);
    dynsel_word_store_relaxed(&it->code, (uint32_t)cause.code);
    dynsel_word_store_relaxed(&it->number, cause.number);
    dynsel_word_store_release(&it->token, token + 1);
}

bool dynsel_failed_work_find(uint32_t slot, uint32_t token, dynsel_cause *cause)
{
    record *const it = &failed[slot - 1];
    if (DYNSEL_LIKELY(dynsel_word_load_acquire(&it->token) != token + 1)) {
        return false;
    }
    *cause = (dynsel_cause){
        .status = (dynsel_status)(int32_t)dynsel_word_load_relaxed(&it->status),
        .code = (int32_t)dynsel_word_load_relaxed(&it->code),
        .number = dynsel_word_load_relaxed(&it->number),
    };
    return dynsel_word_add_synchronized(&it->token, 0) == token + 1;
}
