/* SPDX-License-Identifier: Apache-2.0 */
/* What was moved, and what would have to be. */
#include <dynsel/command_group.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/lock.h"
#include "groups/group.h"
#include "groups/run.h"
#include "port/context.h"

dynsel_status dynsel_buffer_movement(dynsel_buffer buffer, dynsel_movement *movement)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (movement == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "movement is NULL");
    }
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    const dynsel_buffer_record *const record = dynsel_buffer_find(buffer);
    if (record != NULL) {
        *movement = record->movement;
    }
    dynsel_brief_lock_release(&dynsel_memory_lock);
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
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    const uint32_t domain = dynsel_domain_known(where->backend, where->handle);
    *movement = domain != DYNSEL_HOST_DOMAIN ? dynsel_domains[domain - 1].movement
                                             : (dynsel_movement){.bytes_in = 0};
    dynsel_brief_lock_release(&dynsel_memory_lock);
    return DYNSEL_OK;
}

static dynsel_buffer buffer_of(const dynsel_requirement *requirement)
{
    return requirement->buffer.token != 0 || requirement->accessor == NULL
               ? requirement->buffer
               : requirement->accessor->buffer;
}

static bool covers_all(const dynsel_accessor *accessor, const dynsel_buffer_record *record)
{
    bool all = true;
    for (uint32_t i = 0; i < accessor->range.dimensions && i < DYNSEL_MAX_DIMENSIONS; i++) {
        all = all && accessor->range.size[i] == record->range.size[i];
    }
    return all;
}

/* What is discarded in part is kept for the rest. */
static bool needs_contents(const dynsel_accessor *accessor, const dynsel_buffer_record *record)
{
    const bool discards = accessor->mode == DYNSEL_ACCESS_DISCARD_WRITE ||
                          accessor->mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
    return !discards || !covers_all(accessor, record);
}

/* Where work would run. */
typedef struct destination {
    uint32_t domain;
    bool is_host; /* else, without a domain, nothing was there yet */
} destination;

/* A copy that is or would be the host's memory itself moves nothing in. */
static bool is_moved(const dynsel_buffer_record *record, const destination *there)
{
    const uint32_t domain = there->domain;
    if (domain == DYNSEL_HOST_DOMAIN && !there->is_host) {
        return true;
    }
    if (domain == DYNSEL_HOST_DOMAIN) {
        const uint32_t sharer = record->shared_by;
        return !record->host_valid && (sharer == 0 || !dynsel_copy_is_valid(record, sharer));
    }
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    const bool shares = copy->memory.native != NULL
                            ? record->shared_by == domain
                            : record->shared_by == 0 && dynsel_domains[domain - 1].shares;
    return !dynsel_copy_is_valid(record, domain) && !(shares && record->host_valid);
}

/* Each buffer once. */
static bool came_before(const dynsel_task *task, size_t index, const dynsel_buffer_record *record)
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
                   needs_contents(requirement->accessor, record) && is_moved(record, there) &&
                   !came_before(task, index, record)
               ? record->bytes
               : 0;
}

/* There and back. The command group stays while a policy looks at its task. */
static uint64_t bytes_of_ranges(const dynsel_handler *group)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < group->staged_count; i++) {
        const dynsel_staged *const staged = &group->staged[i];
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
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    const destination there = {
        .domain = dynsel_domain_known(where->backend, where->handle),
        .is_host = dynsel_domain_is_host(where->backend, where->handle),
    };
    for (size_t i = 0; i < task->requirement_count; i++) {
        bytes += bytes_of(task, i, &there);
    }
    dynsel_brief_lock_release(&dynsel_memory_lock);
    return task->function == dynsel_group_run && !there.is_host
               ? bytes + bytes_of_ranges(task->args)
               : bytes;
}
