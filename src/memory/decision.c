/* SPDX-License-Identifier: Apache-2.0 */
/* What the start of a command group makes of the copies of its buffers, and how that is undone. */
#include "memory/coherence.h"

#include "memory/domains.h"
#include "memory/readback.h"
#include "memory/staging.h"

static dynsel_copy_record *copy_in(dynsel_buffer_record *record, uint32_t domain)
{
    return &record->copies[domain - 1];
}

static void commit_on_host(dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    use->host_was_valid = record->host_valid;
    record->movement.copies_avoided += use->fetched ? 0 : 1;
    if (use->writes) {
        use->others_valid = record->valid;
        record->valid = 0;
        record->host_valid = true;
        dynsel_readback_forget(record);
    } else {
        record->host_read = true;
    }
}

static void commit_on_device(const dynsel_handler *group, dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_domain_record *const domain = &dynsel_domains[group->domain - 1];
    dynsel_copy_record *const copy = copy_in(record, group->domain);
    use->host_was_valid = record->host_valid;
    use->was_valid = dynsel_copy_is_valid(record, group->domain);
    copy->used = ++domain->uses;
    if (!use->contents || copy->memory.shared) {
        record->movement.copies_avoided++;
        domain->movement.copies_avoided++;
    }
    if (use->bring || use->allocate) {
        copy->since = group->token;
        copy->since_on = group->lane;
    }
    if (use->may_share) {
        record->shared_by = group->domain;
    }
    if (use->writes) {
        use->others_valid = record->valid;
        record->valid = 0;
        record->host_valid = false;
        dynsel_readback_expect(record, group);
    } else if (use->bring && copy->memory.shared) {
        record->host_valid = false;
    }
    record->valid |= dynsel_domain_bit(group->domain);
}

void dynsel_coherence_decide(dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->use_count; i++) {
        if (group->domain == DYNSEL_HOST_DOMAIN) {
            commit_on_host(&group->uses[i]);
        } else {
            commit_on_device(group, &group->uses[i]);
        }
    }
    group->decided = group->token;
}

static inline bool is_all_at_hand(const dynsel_handler *group)
{
    bool at_hand = group->staged_count == 0 && group->domain != DYNSEL_HOST_DOMAIN;
    for (uint32_t i = 0; i < group->use_count && at_hand; i++) {
        at_hand = dynsel_copy_is_at_hand(group->uses[i].record, group->domain);
    }
    return at_hand;
}

bool dynsel_coherence_start_at_hand(dynsel_handler *group)
{
    if (!is_all_at_hand(group)) {
        return false;
    }
    for (uint32_t i = 0; i < group->use_count; i++) {
        dynsel_use_reset(&group->uses[i]);
    }
    group->obstacle = 0;
    group->relies_on = 0;
    group->at_hand = true;
    dynsel_coherence_decide(group);
    return true;
}

static void undo_on_host(const dynsel_use *use, dynsel_buffer_record *record)
{
    if (use->writes) {
        record->host_valid = use->host_was_valid;
        record->valid |= use->others_valid;
    }
}

/* Shared memory that was allocated already is the device's, and shows it the host's data. */
static void undo_on_device(const dynsel_use *use, dynsel_buffer_record *record, uint32_t domain)
{
    dynsel_copy_record *const copy = copy_in(record, domain);
    const bool has_host =
        use->allocate && copy->memory.shared && copy->memory.mapping == DYNSEL_UNMAPPED;
    if (use->may_share && copy->memory.native == NULL) {
        record->shared_by = 0;
    }
    if (use->bring || use->allocate) {
        copy->since = 0;
    }
    dynsel_copy_set_valid(record, domain, has_host ? use->host_was_valid : use->was_valid);
    if (use->writes) {
        record->valid |= use->others_valid;
    }
    if (use->writes || use->bring || use->allocate) {
        record->host_valid = use->host_was_valid && !has_host;
    }
}

void dynsel_coherence_undo(dynsel_handler *group, uint32_t first)
{
    for (uint32_t i = first; i < group->use_count; i++) {
        const dynsel_use *const use = &group->uses[i];
        dynsel_buffer_record *const record = use->record;
        if (group->domain == DYNSEL_HOST_DOMAIN) {
            undo_on_host(use, record);
        } else {
            undo_on_device(use, record, group->domain);
        }
    }
}

static void count_no_more(const dynsel_handler *group, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    if (group->domain == DYNSEL_HOST_DOMAIN) {
        record->movement.copies_avoided -= use->fetched ? 0 : 1;
    } else if (!use->contents || copy_in(record, group->domain)->memory.shared) {
        record->movement.copies_avoided--;
        dynsel_domains[group->domain - 1].movement.copies_avoided--;
    }
}

void dynsel_coherence_take_back(dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->use_count; i++) {
        count_no_more(group, &group->uses[i]);
    }
    dynsel_coherence_undo(group, 0);
    if (group->staged_count != 0) {
        dynsel_staging_give_back(group);
    }
    group->decided = 0;
}

const dynsel_use *dynsel_coherence_missed(const dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->use_count; i++) {
        const dynsel_use *const use = &group->uses[i];
        if (use->relies_on != 0 && copy_in(use->record, group->domain)->missed == use->relies_on) {
            return use;
        }
    }
    return NULL;
}

void dynsel_coherence_failed(dynsel_handler *group, dynsel_status status)
{
    if (group->decided != group->token || group->domain == DYNSEL_HOST_DOMAIN) {
        return;
    }
    for (uint32_t i = 0; i < group->use_count; i++) {
        const dynsel_use *const use = &group->uses[i];
        dynsel_buffer_record *const record = use->record;
        dynsel_copy_record *const copy = copy_in(record, group->domain);
        const bool brought = use->bring && (use->contents || copy->memory.shared);
        if (!brought || copy->since != group->token) {
            continue;
        }
        if (status == DYNSEL_E_DEPENDENCY) {
            copy->missed = group->token;
        }
        if (record->host_valid) {
            dynsel_copy_set_valid(record, group->domain, false);
        }
    }
}
