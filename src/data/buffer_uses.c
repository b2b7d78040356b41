/* SPDX-License-Identifier: Apache-2.0 */
#include "data/buffer_uses.h"

#include "data/domains.h"
#include "data/home.h"
#include "port/assert.h"
#include "submission/pending.h"

enum {
    NONE = 0,
    ANY_DOMAIN = UINT32_MAX /* includes work whose start is not decided */
};

dynsel_uses dynsel_all_uses[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* The uses of a slot have consecutive numbers, from 1 on. */
static dynsel_uses *group_with(uint32_t number)
{
    return &dynsel_all_uses[(number - 1) / CONFIG_DYNSEL_MAX_REQUIREMENTS];
}

static dynsel_former_use *use_at(uint32_t number)
{
    return &group_with(number)->former[(number - 1) % CONFIG_DYNSEL_MAX_REQUIREMENTS];
}

static uint32_t place_of(const dynsel_buffer_record *record)
{
    return (uint32_t)(record - dynsel_buffers) + 1;
}

static void append(dynsel_buffer_record *record, dynsel_former_use *use, uint32_t place,
                   uint32_t number)
{
    use->buffer = (uint16_t)place;
    use->next = NONE;
    use->previous = (dynsel_use_number)record->last_former;
    if (use->previous != NONE) {
        use_at(use->previous)->next = (dynsel_use_number)number;
    } else {
        record->first_former = number;
    }
    record->last_former = number;
}

static void remove_use(dynsel_former_use *use)
{
    dynsel_buffer_record *const record = &dynsel_buffers[use->buffer - 1];
    if (use->previous != NONE) {
        use_at(use->previous)->next = use->next;
    } else {
        record->first_former = use->next;
    }
    if (use->next != NONE) {
        use_at(use->next)->previous = use->previous;
    } else {
        record->last_former = use->previous;
    }
    use->buffer = 0;
}

void dynsel_users_forget(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->former_end; i++) {
        if (uses->former[i].buffer != 0) {
            remove_use(&uses->former[i]);
        }
    }
    uses->former_user = 0;
    uses->former_end = 0;
}

static bool is_unfinished(uint32_t user)
{
    return user != 0 && dynsel_stage_of(user - 1) != DYNSEL_STAGE_OVER;
}

/* Enters a former user, unless it is in the list already: a host accessor that was cancelled made
 * former users writer and readers again. */
static void append_user(dynsel_buffer_record *record, uint32_t user)
{
    dynsel_uses *const uses = dynsel_uses_in(user - 1);
    const uint32_t first = (dynsel_slot_number_in(user - 1) - 1) * CONFIG_DYNSEL_MAX_REQUIREMENTS;
    const uint32_t place = place_of(record);
    uint32_t free = uses->former_end;
    for (uint32_t i = 0; i < uses->former_end; i++) {
        const dynsel_former_use *const use = &uses->former[i];
        if (use->buffer == place) {
            return;
        }
        free = use->buffer == 0 ? i : free;
    }
    DYNSEL_ASSERT(free < CONFIG_DYNSEL_MAX_REQUIREMENTS); /* there is one for each of its uses */
    uses->former_end = free == uses->former_end ? free + 1 : uses->former_end;
    uses->former_user = user;
    append(record, &uses->former[free], place, first + free + 1);
}

static uint32_t user_at(uint32_t number)
{
    return group_with(number)->former_user;
}

/* Leaves in the list what is over: whoever searches it removes that, and the next work of a slot
 * removes what is left of the work before. */
void dynsel_users_replaced(dynsel_buffer_record *record)
{
    if (is_unfinished(record->writer)) {
        append_user(record, record->writer);
    }
    for (uint32_t i = 0; i < record->reader_count; i++) {
        if (is_unfinished(record->readers[i])) {
            append_user(record, record->readers[i]);
        }
    }
}

/* Whether the copy of the buffer in the domain, or of any with NULL, is passed to the work. */
static bool takes_from(const dynsel_uses *uses, const dynsel_buffer_record *record, uint32_t domain)
{
    bool takes = false;
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    for (uint32_t i = 0; i < uses->count && domain != DYNSEL_HOST_DOMAIN && !takes; i++) {
        const dynsel_use *const use = &uses->each[i];
        takes = dynsel_use_passed_from(use) == domain && (record == NULL || use->record == record);
    }
#else
    (void)uses;
    (void)record;
    (void)domain;
#endif
    return takes;
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
bool dynsel_domain_is_passed_from(uint32_t domain)
{
    bool passed = false;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT && !passed; i++) {
        const dynsel_uses *const uses = &dynsel_all_uses[i];
        passed = is_unfinished(uses->decided) && takes_from(uses, NULL, domain);
    }
    return passed;
}
#endif

static bool is_user_in(const dynsel_buffer_record *record, uint32_t user, uint32_t domain)
{
    if (!is_unfinished(user)) {
        return false;
    }
    const dynsel_uses *const uses = dynsel_uses_in(user - 1);
    return domain == ANY_DOMAIN ||
           (uses->decided == user && (uses->domain == domain || takes_from(uses, record, domain)));
}

/* Removes finished work on the way. */
static uint32_t find_former(dynsel_buffer_record *record, uint32_t domain)
{
    uint32_t number = record->first_former;
    while (number != NONE) {
        const uint32_t user = user_at(number);
        if (is_user_in(record, user, domain)) {
            return user;
        }
        const uint32_t next = use_at(number)->next;
        if (!is_unfinished(user)) {
            remove_use(use_at(number));
        }
        number = next;
    }
    return 0;
}

/* The last writer, or a reader since. */
static uint32_t find_last_user(const dynsel_buffer_record *record, uint32_t domain)
{
    if (is_user_in(record, record->writer, domain)) {
        return record->writer;
    }
    for (uint32_t i = 0; i < record->reader_count; i++) {
        if (is_user_in(record, record->readers[i], domain)) {
            return record->readers[i];
        }
    }
    return 0;
}

/* Each user came behind all before it, so their ends follow from that of the last ones: unless one
 * failed, which may be before the work that it depends on has ended. */
static bool implies_end(const dynsel_buffer_record *record, uint32_t former)
{
    return dynsel_word_load_relaxed(&record->failures.known) == 0 && former != 0 &&
           dynsel_stage_of(former - 1) == DYNSEL_STAGE_STARTED;
}

uint32_t dynsel_buffer_user(dynsel_buffer_record *record, bool *has_ended)
{
    const uint32_t last = find_last_user(record, ANY_DOMAIN);
    const uint32_t former = last == 0 ? find_former(record, ANY_DOMAIN) : 0;
    *has_ended = implies_end(record, former);
    return last != 0 ? last : former;
}

#if CONFIG_DYNSEL_TIME_LIMITS

/* Whether the copy in the domain is memory of the program, which the library goes on using. */
static bool is_of_program(const dynsel_buffer_record *record, uint32_t domain)
{
    return record->copies[domain - 1].memory.shared || dynsel_is_home(record, domain);
}

/* Whether the device of the work may use the program's memory of the buffer itself: it works there,
 * or copies it in. */
static bool may_use_programs_memory(const dynsel_uses *uses, const dynsel_use *use)
{
    return uses->domain == DYNSEL_HOST_DOMAIN ||
           (use->copied_in && dynsel_use_passed_from(use) == DYNSEL_HOST_DOMAIN) ||
           is_of_program(use->record, uses->domain);
}

void dynsel_uses_give_up(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        if (dynsel_buffer_is(use->record, use->token) && may_use_programs_memory(uses, use)) {
            use->record->given_up = true;
        }
    }
}

/* The copy in another domain from which the work got its data is only read: they stay valid. */
static void give_up_copies(const dynsel_use *use, uint32_t domain)
{
    dynsel_buffer_record *const record = use->record;
    const uint32_t source = dynsel_use_passed_from(use);
    for (uint32_t i = 1; i <= dynsel_domain_count; i++) {
        dynsel_copy_record *const copy = dynsel_copy_at(record, i);
        if ((i != domain && i != source) || copy->memory.native == NULL) {
            continue;
        }
        copy->given_up = true;
        if (i == domain && !is_of_program(record, domain)) {
            copy->lost = true;
            dynsel_set_valid(&record->validity, domain, false);
        }
    }
}

static bool is_device_lost(const dynsel_uses *uses)
{
    dynsel_backend *const backend = dynsel_domains[uses->domain - 1].backend;
    return backend->ops->memory->is_lost != NULL &&
           backend->ops->memory->is_lost(backend, uses->own);
}

bool dynsel_uses_give_up_copies(const dynsel_uses *uses)
{
    if (uses->domain == DYNSEL_HOST_DOMAIN || is_device_lost(uses)) {
        return false;
    }
    for (uint32_t i = 0; i < uses->count; i++) {
        const dynsel_use *const use = &uses->each[i];
        if (dynsel_buffer_is(use->record, use->token)) {
            give_up_copies(use, uses->domain);
        }
    }
    return true;
}

static bool uses_buffer(const dynsel_uses *uses, const dynsel_buffer_record *record, uint32_t token)
{
    bool uses_it = false;
    for (uint32_t i = 0; i < uses->count; i++) {
        uses_it |= uses->each[i].record == record && uses->each[i].token == token;
    }
    return uses_it;
}

/* Whether the backend still runs the work of this slot, and that uses the buffer. Takes a
 * reference, because the slot may be reused when that ends. */
static bool is_held_by(uint32_t index, const dynsel_buffer_record *record, uint32_t token)
{
    dynsel_slot *const slot = &dynsel_slots[index];
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    bool held = false;
    if (dynsel_slot_is_abandoned(word) && (word & DYNSEL_SLOT_MARKED) != 0 &&
        dynsel_slot_ref_reserved(slot, dynsel_slot_generation(word))) {
        held = slot->can_be_pending && uses_buffer(&dynsel_all_uses[index], record, token);
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    return held;
}

bool dynsel_buffer_is_held(const dynsel_buffer_record *record, uint32_t token)
{
    bool held = record->given_up;
    if (dynsel_word_load_relaxed(&dynsel_slots_abandoned) != 0) {
        for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT && !held; i++) {
            held = is_held_by(i, record, token);
        }
    }
    return held;
}

#endif

uint32_t dynsel_user_of(dynsel_buffer_record *record, uint32_t domain)
{
    const uint32_t last = find_last_user(record, domain);
    return last != 0 ? last : find_former(record, domain);
}
