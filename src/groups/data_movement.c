/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of data movement: the bytes that were moved, and those that a task would move. */
#include <dynsel/command_group.h>
#include <dynsel/statistics.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/coherence.h"
#include "data/domains.h"
#include "groups/execute_command.h"
#include "groups/group.h"
#include "policy/policy.h"
#include "port/context.h"
#include "submission/handle.h"
#include "submission/slot_table.h"

dynsel_status dynsel_buffer_movement(dynsel_buffer buffer, dynsel_movement *movement)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (movement == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "movement is NULL");
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const dynsel_buffer_record *const record = dynsel_buffer_find(buffer);
    if (record != NULL) {
        *movement = record->movement;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return record != NULL ? DYNSEL_OK : dynsel_buffer_refuse(DYNSEL_TEXT(__func__), NULL, buffer);
}

static bool is_resource(const dynsel_resource *where)
{
    return where != NULL && where->backend != NULL && where->backend->ops != NULL;
}

dynsel_status dynsel_domain_movement(const dynsel_resource *where, dynsel_movement *movement)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (!is_resource(where) || movement == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the resource, its backend or movement is NULL");
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const uint32_t domain =
        dynsel_domain_find(where->backend, dynsel_domain_ask(where->backend, where->handle).number);
    *movement = domain != DYNSEL_HOST_DOMAIN ? dynsel_domains[domain - 1].movement
                                             : (dynsel_movement){.bytes_in = 0};
    dynsel_spinlock_release(&dynsel_memory_lock);
    return DYNSEL_OK;
}

dynsel_status dynsel_submission_range_bytes(const dynsel_submission *submission,
                                            dynsel_range_bytes *bytes)
{
    const uint32_t place = submission != NULL ? dynsel_word_load_acquire(&submission->slot)
                                              : (uint32_t)DYNSEL_SUBMISSION_NONE;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (place == DYNSEL_SUBMISSION_NONE || bytes == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "bytes or the submission is NULL, or it was never submitted");
    }
    *bytes = (dynsel_range_bytes){.staged_in = 0};
    if (place < DYNSEL_SUBMISSION_IN_SLOT) {
        return place == DYNSEL_SUBMISSION_COMPLETE
                   ? DYNSEL_OK
                   : DYNSEL_FAIL(DYNSEL_E_STALE,
                                 "the submission was waited for or released before");
    }
    dynsel_slot *const slot = dynsel_in_flight_ref(submission, DYNSEL_TEXT(__func__));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    if (dynsel_slot_can_be_pending(slot)) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        *bytes = dynsel_group_of(slot)->bytes;
        dynsel_spinlock_release(&dynsel_memory_lock);
    }
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return DYNSEL_OK;
}

dynsel_status dynsel_get_range_statistics(const dynsel_policy *policy, dynsel_range_bytes *bytes)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (bytes == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "bytes is NULL");
    }
#if CONFIG_DYNSEL_STATISTICS
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    *bytes = policy->range_bytes;
    dynsel_spinlock_release(&dynsel_memory_lock);
    return DYNSEL_OK;
#else
    return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "set CONFIG_DYNSEL_STATISTICS");
#endif
}

static dynsel_buffer buffer_of(const dynsel_requirement *requirement)
{
    return requirement->buffer.token != 0 || requirement->accessor == NULL
               ? requirement->buffer
               : requirement->accessor->buffer;
}

/* Discarding a part of a buffer keeps the other contents. */
static bool needs_contents(const dynsel_accessor *accessor, const dynsel_buffer_record *record)
{
    bool all = true;
    for (uint32_t i = 0; i < accessor->range.dimensions && i < DYNSEL_MAX_DIMENSIONS; i++) {
        all = all && accessor->range.size[i] == record->range.size[i];
    }
    return !dynsel_mode_discards(accessor->mode) || !all;
}

/* The memory of the resource. */
typedef struct destination {
    uint32_t domain;
    bool is_host; /* false with DYNSEL_HOST_DOMAIN: a domain that has no copies yet */
} destination;

/* Whether an earlier requirement of the task counts the buffer. */
static bool is_counted_before(const dynsel_task *task, size_t index,
                              const dynsel_buffer_record *record)
{
    for (size_t i = 0; i < index; i++) {
        const dynsel_requirement *const other = &task->requirements[i];
        if (other->accessor != NULL && dynsel_buffer_find(buffer_of(other)) == record &&
            needs_contents(other->accessor, record)) {
            return true;
        }
    }
    return false;
}

static uint64_t bytes_of(const dynsel_task *task, size_t index, const destination *there)
{
    const dynsel_requirement *const requirement = &task->requirements[index];
    const dynsel_buffer_record *const record = dynsel_buffer_find(buffer_of(requirement));
    return record != NULL && requirement->accessor != NULL &&
                   needs_contents(requirement->accessor, record) &&
                   dynsel_coherence_would_move(record, there->domain, there->is_host) &&
                   !is_counted_before(task, index, record)
               ? record->bytes
               : 0;
}

/* Copies in and out. The command group exists while a policy looks at its task. */
static uint64_t bytes_of_ranges(const dynsel_handler *group)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < group->uses->staged_count; i++) {
        const dynsel_staged *const staged = &group->uses->staged[i];
        bytes += staged->in ? staged->memory.bytes : 0;
        bytes += staged->out ? staged->memory.bytes : 0;
    }
    return bytes;
}

uint64_t dynsel_bytes_to_move(const dynsel_resource *where, const dynsel_task *task)
{
    if (dynsel_in_interrupt() || !is_resource(where) || task == NULL ||
        task->requirements == NULL) {
        return 0;
    }
    uint64_t bytes = 0;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const uint32_t number = dynsel_domain_ask(where->backend, where->handle).number;
    const destination there = {.domain = dynsel_domain_find(where->backend, number),
                               .is_host = number == 0};
    for (size_t i = 0; i < task->requirement_count; i++) {
        bytes += bytes_of(task, i, &there);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return task->function == dynsel_group_run && !there.is_host
               ? bytes + bytes_of_ranges(task->args)
               : bytes;
}
