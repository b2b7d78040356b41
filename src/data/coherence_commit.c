/* SPDX-License-Identifier: Apache-2.0 */
#include "data/coherence_commit.h"

#include "data/domains.h"
#include "data/readback_time.h"
#include "data/staging.h"
#include "submission/pending.h"

static dynsel_copy_record *copy_of(dynsel_buffer_record *record, uint32_t domain)
{
    return &record->copies[domain - 1];
}

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

static void commit_on_device(const dynsel_uses *uses, dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_domain_record *const domain = &dynsel_domains[uses->domain - 1];
    dynsel_copy_record *const copy = copy_of(record, uses->domain);
    use->host_was_valid = dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN);
    use->was_valid = dynsel_is_valid(&record->validity, uses->domain);
    copy->used = ++domain->uses;
    if (!use->contents || copy->memory.shared) {
        record->movement.copies_avoided++;
        domain->movement.copies_avoided++;
    }
    if (use->copy_in || use->allocate) {
        copy->since = uses->token;
        copy->since_on = uses->queue;
    }
    if (use->may_share) {
        record->shared_by = uses->domain;
    }
    if (use->writes) {
        use->others_valid = dynsel_valid_copies(&record->validity);
        dynsel_set_valid_only(&record->validity, uses->domain);
        dynsel_readback_expect(record, uses);
    } else {
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
            commit_on_device(uses, &uses->each[i]);
        }
    }
    uses->decided = uses->token;
}

static inline bool is_all_resident(const dynsel_uses *uses)
{
    bool resident = uses->staged_count == 0 && uses->domain != DYNSEL_HOST_DOMAIN;
    for (uint32_t i = 0; i < uses->count && resident; i++) {
        resident = dynsel_copy_is_resident(uses->each[i].record, uses->domain);
    }
    return resident;
}

bool dynsel_coherence_start_resident(dynsel_uses *uses)
{
    if (!is_all_resident(uses)) {
        return false;
    }
    for (uint32_t i = 0; i < uses->count; i++) {
        dynsel_use_reset(&uses->each[i]);
    }
    uses->obstacle = 0;
    uses->relies_on = 0;
    uses->resident = true;
    dynsel_coherence_commit(uses);
    return true;
}

/* The copies in other domains that were valid before and still exist. */
static dynsel_copy_set valid_before(const dynsel_use *use)
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

static void undo_on_host(const dynsel_use *use, dynsel_buffer_record *record)
{
    if (use->writes) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, use->host_was_valid);
        dynsel_add_valid_copies(&record->validity, valid_before(use));
    }
}

/* Shared memory that is the device's by now shows it the data that were the host's. */
static bool has_hosts_data(const dynsel_use *use, const dynsel_copy_record *copy)
{
    return (use->copy_in || use->allocate) && copy->memory.native != NULL && copy->memory.shared &&
           copy->memory.mapping == DYNSEL_UNMAPPED;
}

/* Work that depends on the copied data waits for this work while it is in progress. */
static void undo_on_device(const dynsel_use *use, dynsel_buffer_record *record, uint32_t domain)
{
    dynsel_copy_record *const copy = copy_of(record, domain);
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
    dynsel_set_valid(&record->validity, domain, valid && there);
    if (use->writes) {
        dynsel_add_valid_copies(&record->validity, valid_before(use));
    }
    if (use->writes || moved) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, use->host_was_valid && !has_host);
    }
}

static void undo(const dynsel_uses *uses, const dynsel_use *use)
{
    if (use->writes) {
        dynsel_readback_forget(use->record); /* the report was for this work */
    }
    if (uses->domain == DYNSEL_HOST_DOMAIN) {
        undo_on_host(use, use->record);
    } else {
        undo_on_device(use, use->record, uses->domain);
    }
}

void dynsel_coherence_undo(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        undo(uses, &uses->each[i]);
    }
}

/* The use through which a group writes the buffer next behind the version; NULL: it does not. */
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

/* Searches all work in flight. Takes references, because the slot of a finished group may be
 * reused. */
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

/* If the start of the next writer was decided, that would be undone first; so it gets this work's
 * earlier state to return to. */
static void undo_late(const dynsel_uses *uses, const dynsel_use *use)
{
    bool decided = false;
    dynsel_use *const next = find_next(use->record, uses->order, &decided);
    if (next != NULL && decided) {
        const bool moved = uses->domain != DYNSEL_HOST_DOMAIN &&
                           has_hosts_data(use, copy_of(use->record, uses->domain));
        next->host_was_valid = use->host_was_valid && !moved;
        next->was_valid = use->was_valid || (moved && use->host_was_valid);
        next->others_valid = use->others_valid;
    } else if (next != NULL || use->record->writer_order == uses->order) {
        undo(uses, use);
    }
}

void dynsel_coherence_undo_late(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        if (use->writes && dynsel_buffer_is(use->record, use->token)) {
            undo_late(uses, use);
        }
    }
}

static void count_no_more(const dynsel_uses *uses, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    if (uses->domain == DYNSEL_HOST_DOMAIN) {
        record->movement.copies_avoided -= use->copied_out ? 0 : 1;
    } else if (!use->contents || copy_of(record, uses->domain)->memory.shared) {
        record->movement.copies_avoided--;
        dynsel_domains[uses->domain - 1].movement.copies_avoided--;
    }
}

void dynsel_coherence_roll_back(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        count_no_more(uses, &uses->each[i]);
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
        if (use->relies_on != 0 && copy_of(use->record, uses->domain)->missed == use->relies_on) {
            return use;
        }
    }
    return NULL;
}

void dynsel_coherence_failed(dynsel_uses *uses, dynsel_status status)
{
    if (uses->decided != uses->token || uses->domain == DYNSEL_HOST_DOMAIN) {
        return;
    }
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        dynsel_buffer_record *const record = use->record;
        dynsel_copy_record *const copy = copy_of(record, uses->domain);
        const bool copied_in = use->copy_in && (use->contents || copy->memory.shared);
        if (!copied_in || copy->since != uses->token) {
            continue;
        }
        if (status == DYNSEL_E_DEPENDENCY) {
            copy->missed = uses->token;
        }
        if (dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN)) {
            dynsel_set_valid(&record->validity, uses->domain, false);
        }
    }
}
