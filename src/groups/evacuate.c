/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource leaves its policy with the memory of its device. To copy data from there to the host
 * is what a host accessor does, which waits for its turn among the command groups of other policies
 * that use the buffer.
 */
#include "submission/evacuation.h"

#include <dynsel/host_accessor.h>

#include "base/fail.h"
#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/evict.h"
#include "data/staging.h"
#include "groups/failures.h"
#include "policy/policy.h"
#include "port/pause.h"
#include "submission/request.h"
#include "submission/slot_table.h"

/* Whether another resource of the policy keeps the domain in reach. */
static bool is_shared(const dynsel_policy *policy, uint32_t index, uint32_t number)
{
    dynsel_backend *const backend = policy->resources[index].backend;
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        if (i != index &&
            dynsel_domains_of(policy->resources[i].backend) == dynsel_domains_of(backend) &&
            !dynsel_health_is_removed(&policy->queues[i]) &&
            dynsel_domain_ask(backend, policy->queues[i].own).number == number) {
            return true;
        }
    }
    return false;
}

/* The domain that the resource alone has; DYNSEL_HOST_DOMAIN: none, or it was never used, or it is
 * lost with its contents. */
static uint32_t domain_of(const dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *const backend = policy->resources[index].backend;
    void *const own = policy->queues[index].own;
    const uint32_t number = dynsel_domain_ask(backend, own).number;
    if (number == 0 || is_shared(policy, index, number) ||
        (backend->ops->memory->is_lost != NULL && backend->ops->memory->is_lost(backend, own))) {
        return DYNSEL_HOST_DOMAIN;
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const uint32_t domain = dynsel_domain_find(backend, number);
    dynsel_spinlock_release(&dynsel_memory_lock);
    return domain;
}

/* The buffer in this place of the table, if only the domain has its data. If they are lost, it does
 * not have them any more, so that its memory is free. */
static bool find_alone(uint32_t place, uint32_t domain, dynsel_buffer *buffer)
{
    dynsel_buffer_record *const record = &dynsel_buffers[place];
    dynsel_error lost;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    buffer->token = dynsel_word_load_relaxed(&record->token);
    bool found = (buffer->token & DYNSEL_PLACES) != 0 &&
                 dynsel_is_valid(&record->validity, domain) &&
                 !dynsel_is_valid_elsewhere(&record->validity, domain);
    if (found && dynsel_failure_at_end(record, &lost)) {
        dynsel_set_valid(&record->validity, domain, false);
        found = false;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return found;
}

static uint64_t until(uint64_t deadline_ns)
{
    const uint64_t now_ns = dynsel_now_ns();
    if (deadline_ns == DYNSEL_WAIT_FOREVER) {
        return DYNSEL_WAIT_FOREVER;
    }
    return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

/* A buffer may be ended meanwhile. DYNSEL_E_DEPENDENCY: its contents are lost, or work that was to
 * write them did not begin, and they are where they were. */
static dynsel_status copy_to_host(dynsel_buffer buffer, uint64_t deadline_ns)
{
    dynsel_host_accessor accessor = {.data = NULL};
    const dynsel_status status =
        dynsel_host_accessor_open_for(&accessor, buffer, DYNSEL_ACCESS_READ, until(deadline_ns));
    if (status == DYNSEL_OK) {
        return dynsel_host_accessor_close(&accessor);
    }
    return status == DYNSEL_E_STALE ? DYNSEL_OK : status;
}

/* Each round comes behind all work that was submitted before it. */
static dynsel_status bring_home(uint32_t place, uint32_t domain, uint64_t deadline_ns)
{
    dynsel_buffer buffer;
    dynsel_status status = DYNSEL_OK;
    do {
        status = find_alone(place, domain, &buffer) ? copy_to_host(buffer, deadline_ns) : DYNSEL_OK;
    } while (status == DYNSEL_E_DEPENDENCY);
    return status;
}

/* Work on other resources may still be copying from the domain. */
static dynsel_status wait_for_passes(uint32_t domain, uint64_t deadline_ns)
{
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    for (uint32_t round = 0;; round++) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        const bool passes = dynsel_domain_is_passed_from(domain);
        dynsel_spinlock_release(&dynsel_memory_lock);
        if (!passes) {
            break;
        }
        if (dynsel_deadline_passed(deadline_ns)) {
            return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_remove_resource"), DYNSEL_E_TIMEOUT,
                                  "work on another resource is getting data from its memory", 0);
        }
        dynsel_in_flight_reap();
        dynsel_pause(round);
    }
#else
    (void)domain;
    (void)deadline_ns;
#endif
    return DYNSEL_OK;
}

/* Frees what no work uses. */
static void free_memory(uint32_t domain)
{
    dynsel_given_copy given;
    bool found = true;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    while (dynsel_staging_evict(domain)) {
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_staging_release();
    while (found) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        found = dynsel_copy_evict(domain, &given);
        dynsel_spinlock_release(&dynsel_memory_lock);
        if (found) {
            dynsel_copy_release(&given);
        }
    }
}

DYNSEL_RARE static dynsel_status evacuate(const dynsel_policy *policy, uint32_t index,
                                          uint64_t deadline_ns)
{
    const uint32_t domain = domain_of(policy, index);
    if (domain == DYNSEL_HOST_DOMAIN) {
        return DYNSEL_OK;
    }
    for (uint32_t place = 0; place < CONFIG_DYNSEL_MAX_BUFFERS; place++) {
        const dynsel_status status = bring_home(place, domain, deadline_ns);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    const dynsel_status status = wait_for_passes(domain, deadline_ns);
    if (status == DYNSEL_OK) {
        free_memory(domain);
    }
    return status;
}

const dynsel_evacuation_ops dynsel_evacuation = {.evacuate = evacuate};
