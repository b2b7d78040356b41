/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/failures.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/coherence_commit.h"
#include "data/readback_time.h"
#include "data/staging.h"
#include "groups/follow.h"
#include "groups/watch.h"
#include "submission/abandon.h"
#include "submission/pending.h"

static dynsel_word untold; /* the count of failed host commands whose end is not reported yet */

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_failures_forget_all(void)
{
    dynsel_word_store_relaxed(&untold, 0);
}
#endif

static uint32_t load(const dynsel_word *version)
{
    return dynsel_word_load_acquire(version);
}

bool dynsel_failure_concerns(const dynsel_use *use)
{
    const dynsel_buffer_failures *const failures = &use->record->failures;
    return use->source != 0 &&
           (load(&failures->lost) == use->source || load(&failures->undone) == use->source);
}

uint32_t dynsel_failure_version(const dynsel_buffer_record *record, uint32_t version)
{
    const dynsel_buffer_failures *const failures = &record->failures;
    return version != 0 && load(&failures->undone) == version ? failures->in_place_of_undone
                                                              : version;
}

/* The error of a dependent: the first cause stays in `number`. */
static dynsel_error depend_on(const dynsel_error *cause, const char *detail)
{
    dynsel_error error = *cause;
    const bool has_cause = error.status == DYNSEL_E_DEPENDENCY && (int32_t)error.number < 0;
    if (!has_cause) {
        error.number = (uint32_t)error.status;
    }
    error.status = DYNSEL_E_DEPENDENCY;
    error.detail = detail;
    return error;
}

dynsel_error dynsel_failure_behind(const dynsel_use *use)
{
    const dynsel_buffer_failures *const failures = &use->record->failures;
    return depend_on(load(&failures->undone) == use->source ? &failures->undoing : &failures->loss,
                     DYNSEL_TEXT("what it reads was to be written by work that failed: {status}"));
}

bool dynsel_failure_at_end(const dynsel_buffer_record *record, dynsel_error *error)
{
    const dynsel_buffer_failures *const failures = &record->failures;
    if (load(&failures->lost) == 0 || load(&failures->lost) != record->writer_order) {
        return false;
    }
    *error =
        depend_on(&failures->loss,
                  DYNSEL_TEXT("the buffer was ended, but what was to write it failed: {status}"));
    return true;
}

DYNSEL_RARE static dynsel_status refuse_behind_failure(dynsel_handler *group)
{
    dynsel_error error = {.status = DYNSEL_OK};
    if (dynsel_follows_failure(group)) {
        error = dynsel_follow_error(group);
        return dynsel_fail(&error);
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const dynsel_use *const failed = dynsel_failures_find(group);
    if (failed != NULL) {
        error = dynsel_failure_behind(failed);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return failed != NULL ? dynsel_fail(&error) : DYNSEL_OK;
}

dynsel_status dynsel_failure_check(dynsel_handler *group)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_acquire(&untold) == 0)) {
        for (uint32_t i = 0; i < group->dependency_count; i++) {
            dynsel_pending_finish(group->dependencies[i]); /* all of them have run on the worker */
        }
    }
    return DYNSEL_LIKELY(dynsel_failures_find(group) == NULL && !dynsel_group_follows(group))
               ? DYNSEL_OK
               : refuse_behind_failure(group);
}

void dynsel_failure_note_on_host(dynsel_handler *group, bool began)
{
    group->ran = began;
    group->unrun = !began;
    group->untold = true;
    (void)dynsel_word_add_synchronized(&untold, 1);
}

/* Whether `version` is of work that was entered after `order`. Numbers of entry wrap. */
static bool is_newer(uint32_t version, uint32_t order)
{
    return version != 0 && version != order && version - order <= dynsel_order_entries - order;
}

static dynsel_error name_buffer(const dynsel_use *use, const dynsel_error *error)
{
    dynsel_error named = *error;
    if (named.buffer == 0) {
        named.buffer = use->token;
    }
    return named;
}

static void set(dynsel_buffer_failures *failures, dynsel_word *version, uint32_t order)
{
    dynsel_word_store_release(version, order);
    if (load(&failures->known) == 0) {
        dynsel_word_store_release(&failures->known, 1);
        (void)dynsel_word_add_synchronized(&dynsel_pending_alarms, 1);
    }
}

/* If later work is already known to have failed, its failure stays. */
static void note_lost(const dynsel_handler *group, const dynsel_use *use, const dynsel_error *error)
{
    dynsel_buffer_failures *const failures = &use->record->failures;
    if (!is_newer(load(&failures->lost), group->uses->order)) {
        failures->loss = name_buffer(use, error);
        set(failures, &failures->lost, group->uses->order);
    }
    dynsel_readback_forget(use->record);
}

/* Later work finds the earlier contents, unless a writer was entered in between. */
static void note_undone(const dynsel_handler *group, const dynsel_use *use,
                        const dynsel_error *error)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_buffer_failures *const failures = &record->failures;
    if (is_newer(load(&failures->undone), group->uses->order)) {
        note_lost(group, use, error); /* for work that was entered in between */
        return;
    }
    failures->in_place_of_undone = dynsel_failure_version(record, use->source);
    failures->undoing = name_buffer(use, error);
    set(failures, &failures->undone, group->uses->order);
    if (record->writer_order == group->uses->order) {
        record->writer_order = failures->in_place_of_undone;
    }
}

/* For a host accessor that was not opened. Dependents are not affected, but an earlier failure
 * stays. */
static void note_unopened(const dynsel_handler *group, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_buffer_failures *const failures = &record->failures;
    const uint32_t version = dynsel_failure_version(record, use->source);
    if (version != use->source) {
        set(failures, &failures->undone, group->uses->order);
    } else if (version != 0 && load(&failures->lost) == version) {
        set(failures, &failures->lost, group->uses->order);
        return;
    }
    if (record->writer_order == group->uses->order) {
        record->writer_order = version;
    }
}

static void note_all(const dynsel_handler *group, const dynsel_error *error, bool began)
{
    for (uint32_t i = 0; i < group->uses->count; i++) {
        const dynsel_use *const use = &group->uses->each[i];
        if (!use->writes || !dynsel_buffer_is(use->record, use->token)) {
            continue;
        }
        if (began || dynsel_is_spoilt(group->uses, use)) {
            note_lost(group, use, error);
        } else if (group->command.kind == DYNSEL_COMMAND_HOST_ACCESS) {
            note_unopened(group, use);
        } else {
            note_undone(group, use, error);
        }
    }
}

/* Waiting groups that will fail may now end before all of their dependencies. */
static void wake_failed_dependents(void)
{
    dynsel_handler *group = dynsel_watcher_from(1);
    while (group != NULL) {
        if (dynsel_failures_find(group) != NULL) {
            dynsel_watch_end(group);
        }
        group = dynsel_watcher_from((uint32_t)(group - dynsel_groups) + 2);
    }
}

/* From now on dependents wait for the end of the group: its copies in may still be running. */
void dynsel_failure_enter(dynsel_handler *group, const dynsel_error *error)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_coherence_undo(group->uses);
    note_all(group, error, false);
    wake_failed_dependents();
    group->uses->undone = true;
    group->uses->queue = NULL;
    dynsel_watch_changed(group);
    dynsel_spinlock_release(&dynsel_memory_lock);
}

/* Whether the command is followed by copies out. Then the reported end is that of the last copy. */
static bool is_written_back(const dynsel_handler *group)
{
    bool written = false;
    for (uint32_t i = 0; i < group->uses->staged_count; i++) {
        written |= group->uses->staged[i].out;
    }
    return written && group->uses->domain != DYNSEL_HOST_DOMAIN;
}

/* Whether a dependency may still be running: later work would not be ordered after it. */
static bool is_early(const dynsel_handler *group)
{
    bool early = false;
    for (uint32_t i = 0; i < group->dependency_count; i++) {
        early |= dynsel_stage_of(group->dependencies[i]) != DYNSEL_STAGE_OVER;
    }
    return early;
}

/* A device reports DYNSEL_E_DEPENDENCY if the command did not begin because of an earlier failure.
 * */
bool dynsel_failure_has_begun(const dynsel_handler *group, dynsel_status status)
{
    if (group->uses->decided != group->uses->token || group->uses->undone || group->unrun) {
        return false;
    }
    return group->ran || status != DYNSEL_E_DEPENDENCY || is_written_back(group) || is_early(group);
}

/* Work that a backend still runs keeps its slot, which tells for how long it may use the program's
 * memory. */
void dynsel_failure_note_given_up(const dynsel_handler *group, dynsel_status status)
{
#if CONFIG_DYNSEL_TIME_LIMITS
    const dynsel_slot *const slot = dynsel_slot_of(group);
    if (!dynsel_slot_may_go_on(slot, status)) {
        return;
    }
    if (!slot->work.where->backend->ops->marks_completion) {
        dynsel_uses_give_up(group->uses);
    }
    if (dynsel_uses_give_up_copies(group->uses)) {
        dynsel_staging_give_up(group->uses);
    }
#else
    (void)group;
    (void)status;
#endif
}

static void end_failed(dynsel_handler *group, dynsel_error *error)
{
    dynsel_failure_note_given_up(group, error->status);
    const bool began = dynsel_failure_has_begun(group, error->status);
    const dynsel_use *const failed = dynsel_failures_find(group);
    const dynsel_use *const missed = dynsel_coherence_missed(group->uses);
    if (!began && !group->uses->undone && group->uses->decided == group->uses->token) {
        dynsel_coherence_undo_late(group->uses);
    }
    if (error->status != DYNSEL_OK && group->uses->decided == group->uses->token) {
        dynsel_coherence_failed(group->uses, error->status);
    }
    if (failed != NULL) {
        *error = dynsel_failure_behind(failed);
    } else if (missed != NULL) {
        *error = (dynsel_error){
            .status = DYNSEL_E_DEPENDENCY,
            .function = DYNSEL_TEXT("dynsel_submit_command_group"),
            .subject = DYNSEL_TEXT(missed->name),
            .detail = DYNSEL_TEXT("what it reads was to be brought by work that failed"),
        };
    }
    if (error->status != DYNSEL_OK && !group->uses->undone) {
        note_all(group, error, began);
    }
}

void dynsel_failure_end(dynsel_handler *group, dynsel_error *error)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    end_failed(group, error);
    wake_failed_dependents();
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_failure_forget(group);
}

void dynsel_failure_forget(dynsel_handler *group)
{
    group->ran = false;
    group->unrun = false;
    if (group->untold) {
        group->untold = false;
        (void)dynsel_word_add_synchronized(&untold, (uint32_t)-1);
    }
}
