/* SPDX-License-Identifier: Apache-2.0 */
#include "data/coherence_commit.h"

#include "data/domains.h"
#include "data/external_events.h"
#include "data/readback_time.h"
#include "data/staging.h"
#include "port/likely.h"
#include "submission/pending.h"

static void commit_on_host(dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    use->host_was_valid = dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN);
    record->movement.copies_avoided += use->copied_out ? 0 : 1;
    if (use->writes) {
        use->others_valid = dynsel_valid_copies(&record->validity);
        dynsel_set_valid_only(&record->validity, DYNSEL_HOST_DOMAIN);
        dynsel_readback_forget(record);
    } else {
        record->host_read = true;
    }
}

/* resident: the copy is valid and stays as it is; a constant, because most uses are like that. */
static inline void commit_on_device(const dynsel_uses *uses, dynsel_use *use, bool resident)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_domain_record *const domain = &dynsel_domains[uses->domain - 1];
    dynsel_copy_record *const copy = dynsel_copy_at(record, uses->domain);
    use->host_was_valid = dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN);
    use->was_valid = resident || dynsel_is_valid(&record->validity, uses->domain);
    copy->used = ++domain->uses;
    if (resident || !use->contents || copy->memory.shared) {
        record->movement.copies_avoided++;
        domain->movement.copies_avoided++;
    }
    if (record->bytes == 0) {
        use->others_valid = dynsel_valid_copies(&record->validity);
        return;
    }
    if (!resident && (use->copy_in || use->allocate)) {
        copy->since = uses->token;
        copy->since_on = uses->queue;
    }
    if (!resident && use->may_share) {
        record->shared_by = uses->domain;
    }
    if (use->writes) {
        use->others_valid = dynsel_valid_copies(&record->validity);
        dynsel_set_valid_only(&record->validity, uses->domain);
        dynsel_readback_expect(record, uses);
    } else if (!resident) {
        if (use->copy_in && copy->memory.shared) {
            dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, false);
        }
        dynsel_set_valid(&record->validity, uses->domain, true);
    }
}

void dynsel_coherence_commit(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        if (uses->domain == DYNSEL_HOST_DOMAIN) {
            commit_on_host(&uses->each[i]);
        } else {
            commit_on_device(uses, &uses->each[i], false);
        }
    }
    uses->decided = uses->token;
}

bool dynsel_coherence_start_resident(dynsel_uses *uses)
{
    if (uses->staged_count != 0 || uses->domain == DYNSEL_HOST_DOMAIN ||
        dynsel_uses_are_preserved(uses) || dynsel_external_events_exist(uses)) {
        return false;
    }
    const dynsel_use *const end = &uses->each[uses->count];
    for (const dynsel_use *use = uses->each; use != end; use++) {
        if (!dynsel_copy_is_resident(use->record, uses->domain)) {
            return false;
        }
    }
    for (dynsel_use *use = uses->each; use != end; use++) {
        dynsel_use_reset(use);
        commit_on_device(uses, use, true);
    }
    uses->obstacle = 0;
    uses->relies_on = 0;
    uses->resident = true;
    uses->decided = uses->token;
    return true;
}

dynsel_copy_set dynsel_coherence_valid_before(const dynsel_use *use)
{
    const dynsel_buffer_record *const record = use->record;
    dynsel_copy_set valid = use->others_valid;
    for (uint32_t domain = 1; domain <= CONFIG_DYNSEL_MAX_DOMAINS; domain++) {
        const dynsel_copy_record *const copy = &record->copies[domain - 1];
        if (copy->memory.native == NULL || copy->lost) {
            valid = dynsel_copies_without(valid, domain);
        }
    }
    return valid;
}

/* Whether the copy is shared memory that was handed to the device, with the host's data in it. */
static bool has_hosts_data(const dynsel_use *use, const dynsel_copy_record *copy)
{
    return (use->copy_in || use->allocate) && copy->memory.native != NULL && copy->memory.shared &&
           copy->memory.mapping == DYNSEL_UNMAPPED;
}

/* Data that were copied in stay valid: their users wait for this work while it is in progress. */
DYNSEL_RARE static void undo_on_device(const dynsel_use *use, dynsel_buffer_record *record,
                                       uint32_t domain)
{
    dynsel_copy_record *const copy = dynsel_copy_at(record, domain);
    const bool there = copy->memory.native != NULL;
    const bool moved = use->copy_in || use->allocate;
    const bool has_host = has_hosts_data(use, copy);
    const bool came = use->copy_in && use->copied_in && use->contents;
    if (use->may_share && !there) {
        record->shared_by = 0;
    }
    if (moved && !(use->copy_in && use->copied_in)) {
        copy->since = 0;
    }
    const bool valid = use->was_valid || came || (has_host && use->host_was_valid);
    dynsel_set_valid(&record->validity, domain, valid && there && !copy->lost);
    if (use->writes) {
        dynsel_add_valid_copies(&record->validity, dynsel_coherence_valid_before(use));
    }
    if (use->writes || moved) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, use->host_was_valid && !has_host);
    }
}

static void undo(const dynsel_uses *uses, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    if (use->writes) {
        dynsel_readback_forget(record); /* the time would have been reported for this work */
    }
    if (uses->domain != DYNSEL_HOST_DOMAIN) {
        undo_on_device(use, record, uses->domain);
    } else if (use->writes) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, use->host_was_valid);
        dynsel_add_valid_copies(&record->validity, dynsel_coherence_valid_before(use));
    }
}

void dynsel_coherence_undo(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        undo(uses, &uses->each[i]);
    }
}

/* The use with which the group writes the buffer next after the version; NULL: none. */
static dynsel_use *find_next_in(dynsel_uses *uses, const dynsel_buffer_record *record,
                                uint32_t version)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        dynsel_use *const use = &uses->each[i];
        if (use->record == record && use->writes && use->source == version) {
            return use;
        }
    }
    return NULL;
}

/* The same in all work in flight. Takes references, because the slot of a finished group may be
 * reused. decided: out, whether the start of that work is committed. */
static dynsel_use *find_next(const dynsel_buffer_record *record, uint32_t version, bool *decided)
{
    dynsel_use *next = NULL;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT && next == NULL; i++) {
        dynsel_slot *const slot = &dynsel_slots[i];
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        if (!dynsel_slot_ref_reserved(slot, dynsel_slot_generation(word))) {
            continue;
        }
        dynsel_uses *const uses = &dynsel_all_uses[i];
        const bool is_over = dynsel_stage_of(slot->work.token) == DYNSEL_STAGE_OVER;
        if (slot->can_be_pending && !is_over) {
            next = find_next_in(uses, record, version);
            *decided = uses->decided == uses->token && !uses->undone;
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    return next;
}

/* If the start of the next writer is committed, its roll-back has to restore the validity from
 * before this work: that state is handed on to it. */
static void undo_late(const dynsel_uses *uses, const dynsel_use *use)
{
    bool decided = false;
    dynsel_use *const next = find_next(use->record, uses->order, &decided);
    if (next != NULL && decided) {
        const bool moved = uses->domain != DYNSEL_HOST_DOMAIN &&
                           has_hosts_data(use, dynsel_copy_at(use->record, uses->domain));
        next->host_was_valid = use->host_was_valid && !moved;
        next->was_valid = use->was_valid || (moved && use->host_was_valid);
        next->others_valid = use->others_valid;
    } else if (next != NULL || use->record->writer_order == uses->order) {
        undo(uses, use);
    }
}

DYNSEL_RARE void dynsel_coherence_undo_late(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        if (use->writes && dynsel_buffer_is(use->record, use->token)) {
            undo_late(uses, use);
        }
    }
}

void dynsel_coherence_roll_back(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        dynsel_buffer_record *const record = use->record;
        if (uses->domain == DYNSEL_HOST_DOMAIN) {
            record->movement.copies_avoided -= use->copied_out ? 0 : 1;
        } else if (!use->contents || dynsel_copy_at(record, uses->domain)->memory.shared) {
            record->movement.copies_avoided--;
            dynsel_domains[uses->domain - 1].movement.copies_avoided--;
        }
    }
    dynsel_coherence_undo(uses);
    if (uses->staged_count != 0) {
        dynsel_staging_give_back(uses);
    }
    uses->decided = 0;
}

const dynsel_use *dynsel_coherence_missed(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        if (use->relies_on != 0 &&
            dynsel_copy_at(use->record, uses->domain)->missed == use->relies_on) {
            return use;
        }
    }
    return NULL;
}

/* Whether the data are still where they were copied in from. */
static bool is_at_source(const dynsel_use *use, uint32_t domain)
{
    const dynsel_validity *const validity = &use->record->validity;
    return dynsel_use_passed_from(use) != DYNSEL_HOST_DOMAIN
               ? dynsel_is_valid_elsewhere(validity, domain)
               : dynsel_is_valid(validity, DYNSEL_HOST_DOMAIN);
}

void dynsel_coherence_failed(dynsel_uses *uses, dynsel_status status)
{
    if (uses->decided != uses->token || uses->domain == DYNSEL_HOST_DOMAIN) {
        return;
    }
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        dynsel_buffer_record *const record = use->record;
        dynsel_copy_record *const copy = dynsel_copy_at(record, uses->domain);
        const bool copied_in = use->copy_in && (use->contents || copy->memory.shared);
        if (!copied_in || copy->since != uses->token) {
            continue;
        }
        if (status == DYNSEL_E_DEPENDENCY) {
            copy->missed = uses->token;
        }
        if (is_at_source(use, uses->domain)) {
            dynsel_set_valid(&record->validity, uses->domain, false);
        }
    }
}
