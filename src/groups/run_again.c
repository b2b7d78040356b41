/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/run_again.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/coherence.h"
#include "data/coherence_commit.h"
#include "data/preserved_inputs.h"
#include "groups/choose_resource.h"
#include "groups/failures.h"
#include "groups/follow.h"
#include "groups/start_pending.h"
#include "groups/watch.h"
#include "submission/pending.h"
#include "submission/repeat.h"

/* Counts the buffers that the group reads and writes. Returns the bytes of the largest. */
static size_t count_kept(const dynsel_handler *group, uint32_t *count)
{
    size_t largest = 0;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < group->uses->count; i++) {
        dynsel_use *const use = &group->uses->each[i];
        use->spoilt = false;
        if (use->reads && use->writes) {
            largest = use->record->bytes > largest ? use->record->bytes : largest;
            ++*count;
        }
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return largest;
}

dynsel_status dynsel_group_arm(dynsel_handler *group, const dynsel_policy *policy,
                               const char *function)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    uint32_t count = 0;
    if (dynsel_group_is_empty(group)) {
        group->repeatable = false; /* nothing runs that could fail */
        return DYNSEL_OK;
    }
    if (group->uses->staged_count != 0 || group->host_range_count != 0 || group->has_pointers) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "a repeatable command group has buffers only, no ranges and no "
                              "pointers: what it overwrites there is not kept",
                              0);
    }
    const size_t largest = count_kept(group, &count);
    if (largest > CONFIG_DYNSEL_KEPT_BYTES) {
        return DYNSEL_FAIL_IN(
            function, DYNSEL_E_INVALID,
            DYNSEL_OPTION(KEPT_BYTES,
                          "and a repeatable command group reads and writes a buffer of {}: write "
                          "to another buffer, or set it to as many"),
            largest);
    }
    if (count > CONFIG_DYNSEL_KEPT_COUNT) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              DYNSEL_OPTION(KEPT_COUNT,
                                            "and a repeatable command group reads and "
                                            "writes {} buffers: set it to as many or more"),
                              count);
    }
    if (!dynsel_repeat_arm(dynsel_slot_of(group), policy, count)) {
        return DYNSEL_FAIL_IN(
            function, DYNSEL_E_FULL,
            DYNSEL_OPTION_IS(MAX_IN_FLIGHT) " and " DYNSEL_OPTION(
                KEPT_COUNT,
                "and no second slot is free for a repeatable command group, or no block for each "
                "of the {} buffers that it reads and writes: wait for submissions, or set them to "
                "what will be in use at the same time"),
            count);
    }
    group->uses->blocks = dynsel_repeat_kept(dynsel_slot_of(group));
    return DYNSEL_OK;
}

/* From now on the group depends on its data as if it had not been started. */
static void leave_first_run(dynsel_handler *group)
{
    const dynsel_status status = dynsel_slot_of(group)->work.error.status;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_failure_note_given_up(group, status);
    dynsel_inputs_restore(group->uses, status == DYNSEL_E_GIVEN_UP,
                          dynsel_failure_has_begun(group, status));
    group->uses->repeatable = false;
    group->uses->second_run = true;
    dynsel_watch_changed(group); /* its copies are not valid any more */
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_failure_forget(group);
}

/* Whether the group may start on the resource that was chosen. */
static dynsel_status look(dynsel_handler *group, const dynsel_slot *second)
{
    dynsel_buffer_record *copy_out = NULL;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_status status = dynsel_take_choice(group, second);
    if (status == DYNSEL_OK) {
        status = dynsel_group_look(group, &copy_out);
    }
    if (copy_out != NULL) {
        dynsel_watch_begin_copy_out(copy_out);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return status;
}

static dynsel_status start(dynsel_handler *group, dynsel_slot *second)
{
    const dynsel_status status = dynsel_pending_start_second(second);
    if (status != DYNSEL_OK) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        dynsel_coherence_roll_back(group->uses);
        dynsel_spinlock_release(&dynsel_memory_lock);
    }
    return status;
}

static dynsel_status run_elsewhere(dynsel_handler *group, dynsel_slot *second)
{
    dynsel_status status = dynsel_choose_resource_elsewhere(group, second);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = look(group, second);
    if (status == DYNSEL_OK) {
        status = start(group, second);
    }
    if (status != DYNSEL_OK) {
        dynsel_pending_withdraw(second);
    }
    return status;
}

/* No resource may run the group: its buffers are to be as before it. DYNSEL_E_AGAIN: not yet. */
DYNSEL_RARE static dynsel_status put_back(dynsel_handler *group)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const dynsel_outlook outlook = dynsel_coherence_put_back(group->uses);
    dynsel_watch_looked_at(group->uses);
    if (outlook.copy_out != NULL) {
        dynsel_watch_begin_copy_out(outlook.copy_out);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return outlook.status;
}

dynsel_status dynsel_group_run_again(dynsel_slot *first, dynsel_slot *second)
{
    dynsel_handler *const group = dynsel_group_of(first);
    if (group->uses->repeatable) {
        leave_first_run(group);
    }
    const dynsel_status status = run_elsewhere(group, second);
    return status != DYNSEL_OK && status != DYNSEL_E_AGAIN && put_back(group) == DYNSEL_E_AGAIN
               ? DYNSEL_E_AGAIN
               : status;
}

bool dynsel_group_failed_alone(const dynsel_slot *slot)
{
    dynsel_handler *const group = dynsel_group_of(slot);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    bool alone = dynsel_failures_find(group) == NULL &&
                 dynsel_coherence_missed(group->uses) == NULL && !dynsel_follows_failure(group);
    for (uint32_t i = 0; i < group->dependency_count; i++) {
        alone = alone && dynsel_stage_of(group->dependencies[i]) == DYNSEL_STAGE_OVER;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return alone;
}

bool dynsel_group_is_apart(const dynsel_slot *slot)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool apart = dynsel_inputs_are_apart(dynsel_group_of(slot)->uses);
    dynsel_spinlock_release(&dynsel_memory_lock);
    return apart;
}
