/* SPDX-License-Identifier: Apache-2.0 */
#include "data/pass.h"

#include "data/buffers.h"
#include "data/domains.h"
#include "submission/pending.h"

/* Whether a copy there is memory of the device, or will be once it is allocated. */
static bool may_receive(const dynsel_buffer_record *record, uint32_t domain)
{
    const dynsel_memory *const memory = &record->copies[domain - 1].memory;
    return memory->native != NULL ? !memory->shared
                                  : record->shared_by != 0 || !dynsel_domains[domain - 1].shares;
}

static bool may_pass(const dynsel_buffer_record *record, uint32_t from, uint32_t to)
{
    const dynsel_copy_record *const copy = &record->copies[from - 1];
    return dynsel_is_valid(&record->validity, from) && copy->memory.native != NULL &&
           !copy->memory.shared &&
           dynsel_domains[from - 1].backend == dynsel_domains[to - 1].backend &&
           !dynsel_copy_is_in(dynsel_domains[to - 1].apart, from);
}

static bool is_complete(const dynsel_copy_record *copy)
{
    return copy->since == 0 || dynsel_stage_of(copy->since - 1) == DYNSEL_STAGE_OVER;
}

/* What has to be in the host's memory for the sake of a second run is there for the first, too. A
 * start that the backend may end at any time cannot be withdrawn. */
static bool goes_through_host(const dynsel_uses *uses, const dynsel_use *use)
{
#if CONFIG_DYNSEL_REPEAT
    if (uses->second_run) {
        return true;
    }
#endif
    const dynsel_backend_ops *const ops = dynsel_domains[uses->domain - 1].backend->ops;
    return ops->memory->pass == NULL || ops->marks_completion ||
           dynsel_is_wanted_on_host(uses, use) || !may_receive(use->record, uses->domain);
}

uint32_t dynsel_pass_find_source(const dynsel_uses *uses, const dynsel_use *use)
{
    const dynsel_buffer_record *const record = use->record;
    uint32_t source = DYNSEL_HOST_DOMAIN;
    if (goes_through_host(uses, use)) {
        return source;
    }
    for (uint32_t domain = 1; domain <= dynsel_domain_count; domain++) {
        if (!may_pass(record, domain, uses->domain)) {
            continue;
        }
        if (is_complete(&record->copies[domain - 1])) {
            return domain;
        }
        source = source == DYNSEL_HOST_DOMAIN ? domain : source;
    }
    return source;
}

void dynsel_pass_count(const dynsel_uses *uses, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[dynsel_use_passed_from(use) - 1].movement,
                                          &dynsel_domains[uses->domain - 1].movement};
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < sizeof movements / sizeof movements[0]; i++) {
        movements[i]->bytes_passed += record->bytes;
        movements[i]->copies_passed++;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
}

static bool is_lost(uint32_t domain, void *own)
{
    dynsel_backend *const backend = dynsel_domains[domain - 1].backend;
    const dynsel_memory_ops *const ops = backend->ops->memory;
    return ops->is_lost != NULL && ops->is_lost(backend, own);
}

/* A copy on a lost device is marked as after a failed copy to the host, so that the next look finds
 * another one or fails with this failure. */
void dynsel_pass_goes_around(dynsel_uses *uses, dynsel_buffer_record *record, uint32_t source,
                             const dynsel_error *failure)
{
    dynsel_copy_record *const copy = dynsel_copy_at(record, source);
    dynsel_domain_record *const domain = &dynsel_domains[uses->domain - 1];
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    if (failure->status == DYNSEL_E_UNSUPPORTED) {
        domain->apart |= dynsel_copy_alone(source);
        uses->goes_around = true;
    } else if (is_lost(source, copy->own)) {
        record->copy_out_failure = *failure;
        dynsel_set_valid(&record->validity, source, false);
        copy->lost = true;
        uses->goes_around = true;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
}
