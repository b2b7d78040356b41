/* SPDX-License-Identifier: Apache-2.0 */
#include "data/preserved_inputs.h"

#include <string.h>

#include "data/buffers.h"
#include "data/coherence_commit.h"
#include "data/domains.h"
#include "data/readback_time.h"

static bool has_block(const dynsel_use *use)
{
    return use->reads && use->writes;
}

static void *block_of(const dynsel_uses *uses, uint32_t index)
{
    uint32_t block = 0;
    for (uint32_t i = 0; i < index; i++) {
        block += has_block(&uses->each[i]) ? 1u : 0u;
    }
    return dynsel_kept_memory(uses->blocks, block);
}

/* The copy that the use has on the device; NULL: none, or it is the host that works. */
static dynsel_copy_record *copy_of(const dynsel_uses *uses, const dynsel_use *use)
{
    dynsel_copy_record *const copy =
        uses->domain != DYNSEL_HOST_DOMAIN ? dynsel_copy_at(use->record, uses->domain) : NULL;
    return copy != NULL && copy->memory.native != NULL ? copy : NULL;
}

/* Memory that is not there yet may turn out to be the host's. */
void dynsel_inputs_keep(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        const dynsel_copy_record *const copy = copy_of(uses, use);
        if (has_block(use) && (uses->domain == DYNSEL_HOST_DOMAIN ||
                               (copy != NULL ? copy->memory.shared : use->may_share))) {
            (void)memcpy(block_of(uses, i), use->record->data, use->record->bytes);
        }
    }
}

void dynsel_inputs_put_back(dynsel_uses *uses, uint32_t index)
{
    dynsel_use *const use = &uses->each[index];
    if (dynsel_is_put_back(uses, use)) {
        (void)memcpy(use->record->data, block_of(uses, index), use->record->bytes);
        dynsel_set_valid(&use->record->validity, DYNSEL_HOST_DOMAIN, true);
        use->spoilt = false;
    }
}

void dynsel_inputs_abandon(dynsel_use *use)
{
    dynsel_validity *const validity = &use->record->validity;
    const uint32_t sharer = use->record->shared_by;
    dynsel_copy_set others = dynsel_valid_copies(validity);
    if (sharer != 0) {
        others = dynsel_copies_without(others, sharer);
    }
    if (others != 0) {
        dynsel_set_valid(validity, DYNSEL_HOST_DOMAIN, false);
        if (sharer != 0) {
            dynsel_set_valid(validity, sharer, false);
        }
        use->spoilt = false;
    }
}

static bool is_lost(const dynsel_uses *uses)
{
    dynsel_backend *const backend = dynsel_domains[uses->domain - 1].backend;
    return backend->ops->memory->is_lost != NULL &&
           backend->ops->memory->is_lost(backend, uses->own);
}

/* The device may still have the memory, with the inputs or what is left of them. A lost one is not
 * asked to give it back: it is the host's as it is. */
static void restore_shared(const dynsel_uses *uses, const dynsel_use *use, dynsel_copy_record *copy)
{
    dynsel_validity *const validity = &use->record->validity;
    const bool valid = use->host_was_valid || use->was_valid;
    const bool gone = is_lost(uses);
    const bool is_hosts = gone || copy->memory.mapping != DYNSEL_UNMAPPED;
    copy->lost = gone; /* freed before its next use */
    dynsel_set_valid(validity, DYNSEL_HOST_DOMAIN, valid && is_hosts);
    dynsel_set_valid(validity, uses->domain, valid && !is_hosts);
}

static void restore(const dynsel_uses *uses, dynsel_use *use, bool may_write, bool began)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_copy_record *const copy = copy_of(uses, use);
    use->spoilt = !may_write && use->writes && (began || use->reads) &&
                  (uses->domain == DYNSEL_HOST_DOMAIN || (copy != NULL && copy->memory.shared));
    if (uses->domain != DYNSEL_HOST_DOMAIN &&
        dynsel_copy_at(record, uses->domain)->since == uses->token) {
        dynsel_copy_at(record, uses->domain)->since = 0;
    }
    if (copy != NULL && copy->memory.shared) {
        restore_shared(uses, use, copy);
    } else if (uses->domain != DYNSEL_HOST_DOMAIN) {
        if (use->may_share && copy == NULL) {
            record->shared_by = 0;
        }
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, use->host_was_valid);
        dynsel_set_valid(&record->validity, uses->domain,
                         copy != NULL && !copy->lost && use->was_valid && !(use->writes && began));
    } else if (use->writes) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, use->host_was_valid);
    }
    if (use->writes) {
        const dynsel_copy_set valid = dynsel_coherence_valid_before(use);
        dynsel_readback_forget(record);
        dynsel_add_valid_copies(&record->validity,
                                uses->domain == DYNSEL_HOST_DOMAIN
                                    ? valid
                                    : dynsel_copies_without(valid, uses->domain));
    }
    if (use->writes && !use->reads && !dynsel_is_valid_anywhere(&record->validity)) {
        use->spoilt = true; /* only the device had them */
    }
    if (use->spoilt && !use->reads) {
        dynsel_inputs_abandon(use);
    }
}

void dynsel_inputs_restore(dynsel_uses *uses, bool may_write, bool began)
{
    for (uint32_t i = 0; i < uses->count && uses->decided == uses->token; i++) {
        if (dynsel_buffer_is(uses->each[i].record, uses->each[i].token)) {
            restore(uses, &uses->each[i], may_write, began);
        }
    }
    uses->decided = 0;
}

bool dynsel_inputs_are_apart(const dynsel_uses *uses)
{
    bool apart = uses->domain != DYNSEL_HOST_DOMAIN;
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_copy_record *const copy = copy_of(uses, &uses->each[i]);
        apart = apart && (copy == NULL || !copy->memory.shared);
    }
    return apart;
}
