/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/pending_ops.h"

#include "port/thread.h"

const dynsel_pending_ops *dynsel_pending_operations;
static dynsel_word registered; /* then they are visible, too */

dynsel_word dynsel_pending_count;
dynsel_word dynsel_pending_alarms;

void dynsel_pending_register_first(const dynsel_pending_ops *pending_ops)
{
    dynsel_pending_operations = pending_ops;
    dynsel_word_store_release(&registered, 1);
}

dynsel_status dynsel_pending_cancel(struct dynsel_slot *slot, const dynsel_kept_error *error)
{
    return dynsel_pending_operations->cancel(slot, error);
}

void dynsel_pending_tell_end(struct dynsel_slot *slot)
{
    dynsel_pending_operations->ended(slot);
}

void dynsel_pending_tell_watchers(struct dynsel_slot *slot)
{
    dynsel_pending_operations->moved(slot);
}

void dynsel_pending_leave(const dynsel_policy *policy)
{
    if (dynsel_word_load_acquire(&registered) != 0) {
        dynsel_pending_operations->leave(policy);
    }
}

bool dynsel_pending_progress_now(void)
{
    return dynsel_this_thread()->task_depth == 0 && dynsel_pending_operations->progress();
}
