/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/deferral.h"

#include "port/thread.h"

const dynsel_deferral *dynsel_deferral_known;
static dynsel_word registered; /* then it is visible, too */

dynsel_word dynsel_deferred_pending;

void dynsel_deferral_register(const dynsel_deferral *deferral)
{
    if (dynsel_deferral_known == NULL) {
        dynsel_deferral_known = deferral;
        dynsel_word_store_release(&registered, 1);
    }
}

void dynsel_deferred_tell_end(struct dynsel_slot *slot)
{
    dynsel_deferral_known->ended(slot);
}

void dynsel_deferred_tell_watchers(struct dynsel_slot *slot)
{
    dynsel_deferral_known->moved(slot);
}

void dynsel_deferred_leave(const dynsel_policy *policy)
{
    if (dynsel_word_load_acquire(&registered) != 0) {
        dynsel_deferral_known->leave(policy);
    }
}

void dynsel_deferred_progress_now(void)
{
    if (dynsel_this_thread()->task_depth == 0) {
        dynsel_deferral_known->progress();
    }
}
