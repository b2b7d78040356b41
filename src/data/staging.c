/* SPDX-License-Identifier: Apache-2.0 */
#include "data/staging.h"

#include <stddef.h>
#include <string.h>

#include "data/buffers.h"
#include "data/domains.h"
#include "data/evict.h"
#include "port/assert.h"
#include "port/likely.h"
#include "submission/pending.h"

enum {
    GRAIN = 64,   /* sizes are multiples of this, in bytes */
    WASTE = 4,    /* memory is used again for sizes down to a quarter */
    NONE = 0xffff /* no place */
};

typedef struct record {
    dynsel_memory memory; /* bytes: its size; native NULL: not allocated (yet) */
    void *own;            /* the resource with which it was allocated */
    uint32_t domain;
    uint32_t user;           /* token + 1 of the work that uses it, until that is over */
    uint32_t used;           /* `takes` when it was taken last */
    bool raw;                /* the memory is new, and was not made usable yet */
    dynsel_given_copy given; /* earlier memory of this place, to be freed without the lock */
} record;

static record staging[CONFIG_DYNSEL_STAGING_COUNT];
static uint32_t takes;

/* For each domain, token + 1 of the first waiting work: later work must not take its memory. */
static uint32_t turns[CONFIG_DYNSEL_MAX_DOMAINS];

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_staging_forget_all(void)
{
    (void)memset(staging, 0, sizeof(staging));
    (void)memset(turns, 0, sizeof(turns));
}
#endif

static uint32_t room_for(const dynsel_staged *staged)
{
    return staged->memory.bytes == 0 ? GRAIN
                                     : ((uint32_t)staged->memory.bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static bool fits_into(const dynsel_uses *uses, uint32_t room)
{
    for (uint32_t i = 0; i < uses->staged_count; i++) {
        const dynsel_staged *staged = &uses->staged[i];
        if (staged->memory.bytes > CONFIG_DYNSEL_STAGING_BYTES || room_for(staged) > room) {
            return false;
        }
        room -= room_for(staged);
    }
    return true;
}

dynsel_staging_need dynsel_staging_need_of(const dynsel_uses *uses)
{
    if (uses->staged_count > CONFIG_DYNSEL_STAGING_COUNT) {
        return DYNSEL_STAGING_TOO_MANY;
    }
    return fits_into(uses, CONFIG_DYNSEL_STAGING_BYTES) ? DYNSEL_STAGING_FITS
                                                        : DYNSEL_STAGING_TOO_LARGE;
}

uint32_t dynsel_staging_bytes_of(const dynsel_uses *uses)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < uses->staged_count; i++) {
        const uint64_t one = uses->staged[i].memory.bytes;
        bytes += one == 0 ? GRAIN : (one + GRAIN - 1) / GRAIN * GRAIN;
        bytes = bytes < UINT32_MAX ? bytes : UINT32_MAX; /* it does not wrap */
    }
    return (uint32_t)bytes;
}

static bool is_idle(record *it)
{
    if (it->user != 0 && dynsel_stage_of(it->user - 1) == DYNSEL_STAGE_OVER) {
        it->user = 0;
    }
    return it->user == 0;
}

static bool is_kept(record *it)
{
    return is_idle(it) && it->memory.native != NULL;
}

/* Removes the memory from the table. A new user of the place frees it first. */
static void remove_memory(record *it)
{
    DYNSEL_ASSERT(it->given.backend == NULL);
    it->given = (dynsel_given_copy){dynsel_domains[it->domain - 1].backend, it->own, it->memory};
    it->memory = (dynsel_memory){.native = NULL};
}

static bool take_removed(dynsel_given_copy *given)
{
    given->backend = NULL;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT && given->backend == NULL; i++) {
        *given = staging[i].given;
        staging[i].given.backend = NULL;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return given->backend != NULL;
}

void dynsel_staging_release(void)
{
    dynsel_given_copy given;
    while (take_removed(&given)) {
        dynsel_copy_release(&given);
    }
}

/* Bytes in use, or with `kept` allocated, in a domain. */
static uint32_t bytes_in(uint32_t domain, bool kept)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        record *const it = &staging[i];
        const bool counts = !is_idle(it) || (kept && it->memory.native != NULL);
        bytes += counts && it->domain == domain ? (uint32_t)it->memory.bytes : 0;
    }
    return bytes;
}

/* The least recently used idle memory. domain: DYNSEL_HOST_DOMAIN: any. NULL: none. */
static record *oldest_in(uint32_t domain)
{
    record *oldest = NULL;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        record *const it = &staging[i];
        if ((domain == DYNSEL_HOST_DOMAIN || it->domain == domain) && is_kept(it) &&
            (oldest == NULL || takes - it->used > takes - oldest->used)) {
            oldest = it;
        }
    }
    return oldest;
}

bool dynsel_staging_evict(uint32_t domain)
{
    record *const oldest = oldest_in(domain);
    if (oldest != NULL) {
        remove_memory(oldest);
    }
    return oldest != NULL;
}

/* The smallest idle memory that is large enough, but not much too large; NULL: none. */
static record *find_kept(uint32_t domain, uint32_t room)
{
    record *found = NULL;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        record *const it = &staging[i];
        if (it->domain == domain && is_kept(it) && it->memory.bytes >= room &&
            it->memory.bytes / WASTE <= room &&
            (found == NULL || it->memory.bytes < found->memory.bytes)) {
            found = it;
        }
    }
    return found;
}

/* A place without memory. The caller has checked that there is one, once idle memory is removed. */
static record *find_place(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        if (is_idle(&staging[i]) && staging[i].memory.native == NULL) {
            return &staging[i];
        }
    }
    record *const oldest = oldest_in(DYNSEL_HOST_DOMAIN);
    DYNSEL_ASSERT(oldest != NULL);
    remove_memory(oldest);
    return oldest;
}

static void take(const dynsel_uses *uses, dynsel_staged *staged, record *it)
{
    it->domain = uses->domain;
    it->user = uses->token;
    it->used = ++takes;
    staged->place = (uint16_t)(it - staging);
    staged->memory.native = it->memory.native;
    staged->fresh = it->raw; /* if it is not allocated, that is set then */
}

/* Takes idle memory where it fits. Returns the bytes that are missing. */
static uint32_t take_kept(dynsel_uses *uses)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < uses->staged_count; i++) {
        dynsel_staged *const staged = &uses->staged[i];
        record *const kept = find_kept(uses->domain, room_for(staged));
        staged->place = NONE;
        if (kept != NULL) {
            take(uses, staged, kept);
        } else {
            missing += room_for(staged);
        }
    }
    return missing;
}

/* The caller has checked that all fits once idle memory is removed. */
static void take_all(dynsel_uses *uses)
{
    const uint32_t domain = uses->domain;
    uint32_t missing = take_kept(uses);
    if (missing > CONFIG_DYNSEL_STAGING_BYTES - bytes_in(domain, false)) {
        dynsel_staging_give_back(uses); /* the idle memory is larger than needed */
        missing = 0;
        for (uint32_t i = 0; i < uses->staged_count; i++) {
            uses->staged[i].place = NONE;
            missing += room_for(&uses->staged[i]);
        }
    }
    while (missing > CONFIG_DYNSEL_STAGING_BYTES - bytes_in(domain, true) &&
           dynsel_staging_evict(domain)) {
    }
    for (uint32_t i = 0; i < uses->staged_count; i++) {
        dynsel_staged *const staged = &uses->staged[i];
        if (staged->place == NONE) {
            record *const it = find_place();
            it->memory = (dynsel_memory){.bytes = room_for(staged)};
            take(uses, staged, it);
        }
    }
}

/* A user of staging memory, preferably in this domain. */
static uint32_t find_user(uint32_t domain)
{
    uint32_t user = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        if (!is_idle(&staging[i]) && (user == 0 || staging[i].domain == domain)) {
            user = staging[i].user;
        }
    }
    return user;
}

static bool fits_now(const dynsel_uses *uses)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        idle += is_idle(&staging[i]) ? 1 : 0;
    }
    return uses->staged_count <= idle &&
           fits_into(uses, CONFIG_DYNSEL_STAGING_BYTES - bytes_in(uses->domain, false));
}

/* The work that waits first in the domain, if it was entered before this; else 0. */
static uint32_t find_first(const dynsel_uses *uses)
{
    uint32_t *const turn = &turns[uses->domain - 1];
    if (*turn == 0 || dynsel_stage_of(*turn - 1) != DYNSEL_STAGE_ACCEPTED) {
        *turn = 0;
        return 0;
    }
    const dynsel_uses *first = dynsel_uses_in(*turn - 1);
    const bool is_earlier = (int32_t)(first->order - uses->order) < 0; /* numbers of entry wrap */
    return !first->will_fail && first->domain == uses->domain && is_earlier ? *turn : 0;
}

dynsel_status dynsel_staging_take(dynsel_uses *uses)
{
    if (DYNSEL_LIKELY(uses->staged_count == 0) || uses->domain == DYNSEL_HOST_DOMAIN) {
        return DYNSEL_OK;
    }
    uint32_t *const turn = &turns[uses->domain - 1];
    const uint32_t first = find_first(uses);
    if (first != 0 || !fits_now(uses)) {
        *turn = first != 0 ? first : uses->token;
        uses->obstacle = first != 0 ? first : find_user(uses->domain);
        uses->wants_staging = first == 0;
        return DYNSEL_E_AGAIN;
    }
    *turn = *turn == uses->token ? 0 : *turn;
    take_all(uses);
    return DYNSEL_OK;
}

uint32_t dynsel_staging_user(uint32_t place)
{
    return staging[place].user;
}

void dynsel_staging_give_back(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        staging[i].user = staging[i].user == uses->token ? 0 : staging[i].user;
    }
}

void dynsel_staging_give_up(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        if (staging[i].user == uses->token) {
            staging[i].memory = (dynsel_memory){.native = NULL};
        }
    }
}

dynsel_memory *dynsel_staging_memory(const dynsel_staged *staged)
{
    return &staging[staged->place].memory;
}

void dynsel_staging_allocated(const dynsel_staged *staged, void *own)
{
    staging[staged->place].own = own;
    staging[staged->place].raw = true;
}

void dynsel_staging_usable(const dynsel_staged *staged)
{
    staging[staged->place].raw = false;
}

static bool is_allocated_by(const dynsel_policy *policy, const record *it)
{
    bool found = false;
    for (uint32_t i = 0; i < dynsel_policy_count(policy) && !found; i++) {
        found =
            policy->queues[i].own == it->own && dynsel_domains_of(policy->resources[i].backend) ==
                                                    dynsel_domains[it->domain - 1].backend;
    }
    return found;
}

void dynsel_staging_leave(const dynsel_policy *policy)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        if (is_kept(&staging[i]) && is_allocated_by(policy, &staging[i])) {
            remove_memory(&staging[i]);
        }
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_staging_release();
}

void dynsel_staging_forget(const dynsel_uses *uses)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        record *const it = &staging[i];
        it->user = it->user != 0 && dynsel_uses_in(it->user - 1) == uses ? 0 : it->user;
    }
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        turns[i] = turns[i] != 0 && dynsel_uses_in(turns[i] - 1) == uses ? 0 : turns[i];
    }
}
