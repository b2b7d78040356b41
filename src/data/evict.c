/* SPDX-License-Identifier: Apache-2.0 */
#include "data/evict.h"

#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/home.h"
#include "data/validity.h"
#include "port/assert.h"
#include "submission/pending.h"

void dynsel_copy_take(dynsel_buffer_record *record, uint32_t domain, dynsel_given_copy *given)
{
    dynsel_copy_record *const copy = &record->copies[domain - 1];
    given->backend = copy->given_up ? NULL : dynsel_domains[domain - 1].backend;
    given->own = copy->own;
    given->memory = copy->memory;
    *copy = (dynsel_copy_record){.since = 0};
    dynsel_set_valid(&record->validity, domain, false);
    dynsel_home_note_taken(record, domain);
    if (record->shared_by == domain) {
        record->shared_by = 0;
    }
}

void dynsel_copy_release(dynsel_given_copy *given)
{
    if (given->backend != NULL) {
        given->backend->ops->memory->release(given->backend, given->own, &given->memory);
    }
}

/* Whether the copy becomes valid again if the start of this work is rolled back. */
static bool may_restore(const dynsel_uses *uses, const dynsel_buffer_record *record,
                        uint32_t domain)
{
    const bool launched = uses->domain != DYNSEL_HOST_DOMAIN && !uses->undone &&
                          dynsel_stage_of(uses->token - 1) == DYNSEL_STAGE_STARTED;
    for (uint32_t i = 0; i < uses->count && !launched; i++) {
        const dynsel_use *const use = &uses->each[i];
        if (use->record == record && use->writes && dynsel_copy_is_in(use->others_valid, domain)) {
            return true;
        }
    }
    return false;
}

static bool is_kept(const dynsel_buffer_record *record, uint32_t domain)
{
    bool kept = false;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT && !kept; i++) {
        const dynsel_uses *const uses = &dynsel_all_uses[i];
        const uint32_t decided = uses->decided;
        if (decided != 0 && dynsel_pending_ref_reserved(decided - 1)) {
            kept = may_restore(uses, record, domain);
            dynsel_slot_unref(&dynsel_slots[i], DYNSEL_SLOT_REF);
        }
    }
    return kept;
}

/* Shared memory is the host's: to free it would make no room on the device. */
static bool may_evict(const dynsel_buffer_record *record, uint32_t domain, bool valid)
{
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    return copy->memory.native != NULL && !copy->memory.shared && !dynsel_is_home(record, domain) &&
           dynsel_is_valid(&record->validity, domain) == valid &&
           (!valid || dynsel_is_valid_elsewhere(&record->validity, domain)) &&
           (record->copy_out.state == DYNSEL_NO_COPY_OUT || record->copy_out.domain != domain);
}

/* The copy with the greatest age below `age`; NULL: none. age: in and out, in uses of the domain.
 * */
static dynsel_buffer_record *find_oldest(uint32_t domain, bool valid, uint32_t *age)
{
    const uint32_t now = dynsel_domains[domain - 1].uses;
    dynsel_buffer_record *oldest = NULL;
    uint32_t oldest_age = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        dynsel_buffer_record *const record = &dynsel_buffers[i];
        const uint32_t its_age = now - record->copies[domain - 1].used;
        if (its_age < *age && (oldest == NULL || its_age > oldest_age) &&
            may_evict(record, domain, valid)) {
            oldest = record;
            oldest_age = its_age;
        }
    }
    *age = oldest_age;
    return oldest;
}

/* The oldest copy that is not in use; NULL: none. */
static dynsel_buffer_record *find_unused(uint32_t domain, bool valid)
{
    uint32_t age = UINT32_MAX;
    dynsel_buffer_record *record = find_oldest(domain, valid, &age);
    while (record != NULL &&
           (dynsel_user_of(record, domain) != 0 || (!valid && is_kept(record, domain)))) {
        record = find_oldest(domain, valid, &age);
    }
    return record;
}

/* Invalid copies first, because they need no copy in later. */
bool dynsel_copy_evict(uint32_t domain, dynsel_given_copy *given)
{
    dynsel_buffer_record *record = find_unused(domain, false);
    if (record == NULL) {
        record = find_unused(domain, true);
    }
    if (record != NULL) {
        dynsel_copy_take(record, domain, given);
    }
    return record != NULL;
}

/* Removes one copy from the table; another thread may evict one meanwhile. False: none is left. */
static bool take_any(dynsel_buffer_record *record, dynsel_given_copy *given)
{
    uint32_t domain = 1;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    DYNSEL_ASSERT(record->copy_out.state == DYNSEL_NO_COPY_OUT);
    while (domain <= dynsel_domain_count && record->copies[domain - 1].memory.native == NULL) {
        domain++;
    }
    const bool found = domain <= dynsel_domain_count;
    if (found) {
        dynsel_copy_take(record, domain, given);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return found;
}

void dynsel_copies_end(dynsel_buffer_record *record)
{
    dynsel_given_copy given;
    while (take_any(record, &given)) {
        dynsel_copy_release(&given);
    }
}
