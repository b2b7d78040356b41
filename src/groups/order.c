/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/order.h"

#include "base/fail.h"
#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "data/coherence.h"
#include "data/coherence_commit.h"
#include "data/external_events.h"
#include "data/staging.h"
#include "groups/failures.h"
#include "groups/follow.h"
#include "groups/pointer_access.h"
#include "groups/watch.h"
#include "policy/traced.h"
#include "port/likely.h"
#include "submission/abandon.h"
#include "submission/pending.h"

static bool comes_by_event_after(const dynsel_handler *group, uint32_t dependency)
{
    for (uint32_t i = 0; i < group->uses->after_count; i++) {
        if (group->uses->after[i] == dependency) {
            return true;
        }
    }
    return false;
}

/* Token + 1 of a dependency of the group whose failure would not make the event of the group fail;
 * 0: none. A command that is only ordered behind a dependency by its queue succeeds although the
 * dependency fails; the library knows the failure when it reaps the queue. */
static uint32_t find_untold_by_event(const dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->dependency_count; i++) {
        if (!comes_by_event_after(group, group->dependencies[i]) &&
            dynsel_stage_of(group->dependencies[i]) != DYNSEL_STAGE_OVER) {
            return group->dependencies[i] + 1;
        }
    }
    return group->uses->relies_on != 0 &&
                   dynsel_stage_of(group->uses->relies_on - 1) != DYNSEL_STAGE_OVER
               ? group->uses->relies_on
               : 0;
}

/* Whether the work will fail although its event does not: its command did not begin, or it depends
 * on failed work. Takes a reference, because the slot of a finished group may be reused. */
static bool is_to_fail(uint32_t token)
{
    if (!dynsel_pending_ref_reserved(token)) {
        return true; /* the work is over now: the caller looks again */
    }
    dynsel_handler *const group = dynsel_group_in(token);
    const bool fails = group->uses->undone || dynsel_failures_find(group) != NULL ||
                       dynsel_coherence_missed(group->uses) != NULL ||
                       dynsel_follows_failure(group);
    dynsel_slot_unref(dynsel_slot_of_token(token), DYNSEL_SLOT_REF);
    return fails;
}

/* Whether copies to the device read the host's memory. Such a copy may read it as soon as it is
 * started, as messages to a rank do, although the device writes it only after what it waits for. */
static bool reads_host_memory(const dynsel_uses *uses)
{
    bool reads = false;
    for (uint32_t i = 0; i < uses->staged_count; i++) {
        reads = reads || uses->staged[i].in;
    }
    return reads;
}

/* dependency: started and not over. Whether the group can be started now and still run after it. */
static inline bool may_follow(dynsel_handler *group, uint32_t dependency)
{
    const dynsel_handler *before = dynsel_group_in(dependency);
    if (before->uses->queue == group->uses->queue && group->uses->in_order) {
        return true;
    }
    if (before->uses->domain != group->uses->domain || group->uses->domain == DYNSEL_HOST_DOMAIN ||
        reads_host_memory(group->uses)) {
        return false;
    }
    const uint32_t hidden = find_untold_by_event(before);
    if (hidden != 0) {
        group->waits_for = hidden;
        return false;
    }
    if (is_to_fail(dependency)) {
        return false;
    }
    group->uses->after[group->uses->after_count++] = dependency;
    return true;
}

static bool waits_for(dynsel_handler *group, uint32_t dependency, dynsel_stage stage)
{
    group->waits_for = dependency + 1;
    group->for_start = stage == DYNSEL_STAGE_ACCEPTED;
    /* What preserves its inputs may copy them to the host first, which is no work of its queue. */
    return stage == DYNSEL_STAGE_ACCEPTED || dynsel_uses_are_preserved(group->uses) ||
           dynsel_uses_are_preserved(dynsel_uses_in(dependency)) || !may_follow(group, dependency);
}

/* Nobody knows how tasks are ordered, so the start has to wait for their end. */
static bool waits_for_task(dynsel_handler *group, uint32_t dependency)
{
    group->waits_for = dependency + 1;
    group->for_start = false;
    return true;
}

static DYNSEL_ASIDE bool depend_on_unfinished(dynsel_handler *group, uint32_t number,
                                              dynsel_stage stage, bool *waits)
{
    for (uint32_t i = 0; i < group->dependency_count; i++) {
        if (group->dependencies[i] == number - 1) {
            return true;
        }
    }
    if (group->dependency_count == CONFIG_DYNSEL_MAX_DEPENDENCIES) {
        return false;
    }
    group->dependencies[group->dependency_count++] = number - 1;
    dynsel_traced_depends(&dynsel_slot_of(group)->selection,
                          &dynsel_slot_of_token(number - 1)->selection);
    *waits = *waits || waits_for(group, number - 1, stage);
    return true;
}

/* Adds a dependency. number: token + 1, or 0. waits: set if the dependency prevents the start.
 * False: the table is full. */
static inline bool depend_on(dynsel_handler *group, uint32_t number, bool *waits)
{
    const dynsel_stage stage = number != 0 ? dynsel_stage_of(number - 1) : DYNSEL_STAGE_OVER;
    return stage == DYNSEL_STAGE_OVER || depend_on_unfinished(group, number, stage, waits);
}

/* Adds what the group follows, before any other dependency. waits: as above; also set if some of it
 * has failed. */
DYNSEL_RARE static void depend_on_followed(dynsel_handler *group, bool *waits)
{
    for (uint32_t i = 0; i < group->followed.count; i++) {
        const uint32_t token = group->followed.tokens[i];
        if (i >= group->followed.task_count) {
            (void)depend_on(group, token + 1, waits); /* there is room for all of these */
        } else if (dynsel_stage_of(token) != DYNSEL_STAGE_OVER) {
            group->dependencies[group->dependency_count++] = token;
            group->task_count++;
            dynsel_traced_depends(&dynsel_slot_of(group)->selection,
                                  &dynsel_slot_of_token(token)->selection);
            *waits = *waits || waits_for_task(group, token);
        }
    }
    *waits = *waits || dynsel_follows_failure(group);
}

static bool depend_on_readers(dynsel_handler *group, const dynsel_buffer_record *record,
                              bool *waits)
{
    bool fits = true;
    for (uint32_t i = 0; i < record->reader_count && fits; i++) {
        fits = depend_on(group, record->readers[i], waits);
    }
    return fits;
}

static void remove_finished_readers(dynsel_buffer_record *record)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        if (dynsel_stage_of(record->readers[i] - 1) != DYNSEL_STAGE_OVER) {
            record->readers[kept++] = record->readers[i];
        }
    }
    record->reader_count = kept;
}

DYNSEL_RARE static dynsel_status refuse_reader(const char *function, const dynsel_use *use,
                                               uint32_t *token)
{
    *token = use->record->readers[0] - 1;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_FULL,
        .function = function,
        .number = CONFIG_DYNSEL_MAX_READERS + 1,
        .subject = DYNSEL_TEXT(use->name),
        .detail = DYNSEL_TEXT(
            DYNSEL_OPTION(MAX_READERS, "and as many command groups that read the buffer are on "
                                       "their way: wait for some, or set it to {} or more"))});
}

DYNSEL_RARE static dynsel_status refuse_dependency(const char *function,
                                                   const dynsel_handler *group, uint32_t *token)
{
    *token = group->dependencies[0];
    return DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                          DYNSEL_OPTION(MAX_DEPENDENCIES,
                                        "and the command group depends on more that are not "
                                        "complete: wait for some, or set it to {} or more"),
                          CONFIG_DYNSEL_MAX_DEPENDENCIES + 1);
}

static inline dynsel_status make_room_for_reader(const dynsel_use *use, const char *function,
                                                 uint32_t *token)
{
    if (use->record->reader_count == CONFIG_DYNSEL_MAX_READERS) {
        remove_finished_readers(use->record);
    }
    return use->record->reader_count < CONFIG_DYNSEL_MAX_READERS
               ? DYNSEL_OK
               : refuse_reader(function, use, token);
}

/* Adds the dependencies that one buffer causes, and makes room for a reader. */
static inline dynsel_status find_dependencies(dynsel_handler *group, const dynsel_use *use,
                                              const char *function, bool *waits, uint32_t *token)
{
    dynsel_buffer_record *record = use->record;
    if (!dynsel_buffer_is(record, use->token)) {
        return dynsel_buffer_refuse(function, use->name, (dynsel_buffer){.token = use->token});
    }
    if (!depend_on(group, record->writer, waits) ||
        (use->writes && !depend_on_readers(group, record, waits))) {
        return refuse_dependency(function, group, token);
    }
    return use->writes ? DYNSEL_OK : make_room_for_reader(use, function, token);
}

/* Makes the group the last writer, or a reader, of the buffer. True: it reads the output of failed
 * work. */
static inline bool take_place(dynsel_handler *group, dynsel_use *use)
{
    dynsel_buffer_record *record = use->record;
    use->source = record->writer_order;
    if (use->writes) {
        if (!DYNSEL_LIKELY(group->dependency_count == 0)) {
            dynsel_users_replaced(record);
        }
        group->replaced = record->writer;
        record->writer = group->uses->token;
        record->writer_order = group->uses->order;
        record->reader_count = 0;
    } else {
        record->readers[record->reader_count++] = group->uses->token;
    }
    return dynsel_failures_exist() && use->reads &&
           dynsel_word_load_relaxed(&record->failures.known) != 0 && dynsel_failure_concerns(use);
}

/* An empty command changes nothing: what it was to write stays as it is, also if that is lost. So
 * it takes the place of a reader. A failure has no effect. */
DYNSEL_RARE static dynsel_status write_nothing(const dynsel_handler *group, const char *function,
                                               uint32_t *token)
{
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < group->uses->count && status == DYNSEL_OK; i++) {
        status = make_room_for_reader(&group->uses->each[i], function, token);
    }
    for (uint32_t i = 0; i < group->uses->count && status == DYNSEL_OK; i++) {
        group->uses->each[i].writes = false;
    }
    return status;
}

dynsel_status dynsel_order_enter(dynsel_handler *group, const char *function, bool *waits,
                                 uint32_t *token)
{
    dynsel_uses *const uses = group->uses;
    dynsel_use *const end = &uses->each[uses->count];
    group->dependency_count = 0;
    group->task_count = 0;
    uses->after_count = 0;
    uses->relies_on = 0;
    *waits = false;
    if (dynsel_group_follows(group)) {
        depend_on_followed(group, waits);
    }
    for (const dynsel_use *use = uses->each; use != end; use++) {
        const dynsel_status status = find_dependencies(group, use, function, waits, token);
        if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
            return status;
        }
    }
    if (dynsel_group_is_empty(group)) {
        const dynsel_status status = write_nothing(group, function, token);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    if (!DYNSEL_LIKELY(uses->former_user == 0)) {
        dynsel_users_forget(uses);
    }
    dynsel_order_entries += dynsel_order_entries == UINT32_MAX ? 2 : 1; /* 0: none */
    uses->order = dynsel_order_entries;
    for (dynsel_use *use = uses->each; use != end; use++) {
        *waits |= take_place(group, use);
    }
    return DYNSEL_OK;
}

/* Restores the writer and readers from before the group was entered: its dependencies. */
static void restore_users(dynsel_handler *group, dynsel_buffer_record *record)
{
    record->writer = 0;
    for (uint32_t i = 0; i < group->dependency_count; i++) {
        const uint32_t number = group->dependencies[i] + 1;
        if (dynsel_stage_of(group->dependencies[i]) == DYNSEL_STAGE_OVER) {
            continue;
        }
        if (number == group->replaced) {
            record->writer = number;
        } else {
            record->readers[record->reader_count++] = number;
        }
    }
}

void dynsel_order_leave(dynsel_handler *group)
{
    dynsel_use *use = &group->uses->each[0];
    dynsel_buffer_record *record = use->record;
    if (!use->writes || record->writer != group->uses->token) {
        return;
    }
    remove_finished_readers(record);
    if (record->reader_count == 0) {
        restore_users(group, record);
        record->writer_order = dynsel_failure_version(record, use->source);
        use->writes = false;
        group->dependency_count = 0;
    }
}

/* Whether failed work may end before its dependencies. Dependents of a writer assume that its
 * dependencies are over; dependents of a reader have the same dependencies themselves. */
static bool may_end_early(const dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->uses->count; i++) {
        if (group->uses->each[i].writes) {
            return false;
        }
    }
    return true;
}

/* Whether a dependency has to end before the group can be started or, with `fails`, ended. Removes
 * dependencies that are over. */
static inline bool has_to_wait(dynsel_handler *group, bool fails)
{
    bool waits = false;
    uint32_t kept = 0;
    const uint32_t tasks = group->task_count;
    group->uses->after_count = 0;
    for (uint32_t i = 0; i < group->dependency_count; i++) {
        const uint32_t dependency = group->dependencies[i];
        const dynsel_stage stage = dynsel_stage_of(dependency);
        if (stage != DYNSEL_STAGE_OVER) {
            group->dependencies[kept++] = dependency;
            waits = waits || (i < tasks ? waits_for_task(group, dependency)
                                        : waits_for(group, dependency, stage));
        } else if (i < tasks) {
            group->task_count--;
        }
    }
    group->dependency_count = kept;
    if (fails && kept != 0) {
        group->waits_for = group->dependencies[0] + 1;
        group->for_start = false;
    }
    return fails ? kept != 0 && !may_end_early(group) : waits;
}

/* Nothing that the group follows is started only; what is over has been noted if it failed. */
static bool fails_behind_followed(dynsel_handler *group)
{
    if (group->uses->will_fail || !dynsel_follows_failure(group)) {
        return false;
    }
    group->uses->will_fail = true;
    group->error = dynsel_follow_error(group);
    return true;
}

/* No failure is missed: it is entered under the lock before the work is visibly over. */
dynsel_status dynsel_order_look(dynsel_handler *group)
{
    const dynsel_use *const failed = dynsel_failures_find(group);
    if (has_to_wait(group, group->uses->will_fail || failed != NULL)) {
        return DYNSEL_E_AGAIN;
    }
    if (!DYNSEL_LIKELY(!fails_behind_followed(group))) {
        return has_to_wait(group, true) ? DYNSEL_E_AGAIN : group->error.status;
    }
    if (DYNSEL_LIKELY(!group->uses->will_fail && failed == NULL)) {
        return DYNSEL_OK;
    }
    if (!group->uses->will_fail) {
        group->error = dynsel_failure_behind(failed);
    }
    return group->error.status;
}

bool dynsel_order_holds(const dynsel_slot *slot)
{
    dynsel_handler *const group = dynsel_group_of(slot);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool began = slot->work.done.native != NULL && !group->uses->undone;
    const bool holds = !began && has_to_wait(group, true);
    dynsel_spinlock_release(&dynsel_memory_lock);
    return holds;
}

/* Whether a resource that was given up may still run the work. */
static bool may_go_on(const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_TIME_LIMITS
    return dynsel_slot_may_go_on(slot, slot->work.error.status);
#else
    (void)slot;
    return false;
#endif
}

DYNSEL_RARE static void end_uncommon(dynsel_handler *group, dynsel_slot *slot)
{
    if (group->has_pointers) {
        dynsel_pointers_unref(group, may_go_on(slot));
    }
    if (dynsel_group_follows(group)) {
        dynsel_follow_end(group, &slot->work.error);
    }
}

/* For command groups that follow this one. */
static void note_failed(const dynsel_slot *slot)
{
    if (slot->work.error.status != DYNSEL_OK) {
        dynsel_failed_work_note(dynsel_slot_number(slot), slot->work.token, &slot->work.error);
    }
}

/* A dependency may have failed on the same resource since the start. */
void dynsel_order_ended(dynsel_slot *slot)
{
    dynsel_handler *group = dynsel_group_of(slot);
    if (!DYNSEL_LIKELY(group->uncommon == 0)) {
        end_uncommon(group, slot);
    }
    if (!DYNSEL_LIKELY(slot->work.error.status == DYNSEL_OK &&
                       dynsel_failures_find(group) == NULL && group->uses->relies_on == 0)) {
        dynsel_external_events_explain(group->uses, &slot->work.error);
        dynsel_failure_end(group, &slot->work.error);
        note_failed(slot);
    }
    dynsel_external_events_release(group->uses);
}

static bool is_of(const dynsel_uses *uses, uint32_t number)
{
    return number != 0 && dynsel_uses_in(number - 1) == uses;
}

static void forget(dynsel_buffer_record *record, const dynsel_uses *uses)
{
    if (is_of(uses, record->writer)) {
        record->writer = 0;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < record->reader_count; i++) {
        if (!is_of(uses, record->readers[i])) {
            record->readers[kept++] = record->readers[i];
        }
    }
    record->reader_count = kept;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        if (is_of(uses, record->copies[i].since)) {
            record->copies[i].since = 0;
        }
        if (is_of(uses, record->copies[i].missed)) {
            record->copies[i].missed = 0;
        }
    }
}

/* All earlier work of the slot is over. */
void dynsel_order_forget(dynsel_uses *uses)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_users_forget(uses);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        forget(&dynsel_buffers[i], uses);
    }
    dynsel_staging_forget(uses);
    dynsel_spinlock_release(&dynsel_memory_lock);
}

/* The search for the dependency of pending work, which may be a host accessor of the calling
 * thread. */

static bool is_held(const dynsel_handler *group)
{
    return group->held && group->uses->opener == dynsel_thread_identity();
}

bool dynsel_order_is_own(uint32_t token)
{
    return dynsel_stage_of(token) != DYNSEL_STAGE_OVER && is_held(dynsel_group_in(token));
}

/* The result of one step towards the first dependency. */
typedef struct step {
    uint32_t token;             /* of started work */
    bool found;                 /* `token` is set */
    bool own;                   /* this thread has a host accessor open that the group waits for */
    const dynsel_handler *next; /* a pending dependency; or NULL */
} step;

/* is_task: of work between two runs nothing is known but that it goes on. */
static void look_at(step *seen, uint32_t token, dynsel_stage stage, bool is_task)
{
    if (stage == DYNSEL_STAGE_ACCEPTED && is_task) {
        return;
    }
    if (stage == DYNSEL_STAGE_ACCEPTED) {
        seen->own = seen->own || is_held(dynsel_group_in(token));
        seen->next = dynsel_group_in(token);
    } else if (stage == DYNSEL_STAGE_STARTED) {
        seen->token = token;
        seen->found = true;
    }
}

static void look_behind(step *seen, const dynsel_handler *group)
{
    seen->next = NULL;
    for (uint32_t i = 0; i < group->dependency_count && !seen->found; i++) {
        const dynsel_stage stage = dynsel_stage_of(group->dependencies[i]);
        if (stage != DYNSEL_STAGE_OVER) {
            look_at(seen, group->dependencies[i], stage, i < group->task_count);
        }
    }
    uint32_t token = 0;
    if (!seen->found && seen->next == NULL &&
        dynsel_coherence_find_dependency(group->uses, &token)) {
        look_at(seen, token, dynsel_stage_of(token), false);
    }
}

/* Each step leads to work that was entered earlier, or whose start was decided earlier. A decision
 * may be rolled back, hence the bound. */
dynsel_status dynsel_order_find_dependency(const dynsel_slot *slot, uint32_t *token)
{
    const dynsel_handler *const group = dynsel_group_of(slot);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    step seen = {.next = group, .own = is_held(group)};
    for (uint32_t steps = 0; steps < CONFIG_DYNSEL_MAX_IN_FLIGHT; steps++) {
        if (seen.next == NULL || seen.found) {
            break;
        }
        look_behind(&seen, seen.next);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    *token = seen.token;
    if (seen.found) {
        return DYNSEL_OK;
    }
    return !seen.own
               ? DYNSEL_E_AGAIN
               : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_wait"), DYNSEL_E_BUSY,
                                "it waits for a host accessor that this thread has open: close "
                                "that first",
                                0);
}
