/* SPDX-License-Identifier: Apache-2.0 */
#include "data/enter_domain.h"

#include "backends/default_memory.h"
#include "base/fail.h"
#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/staging.h"
#include "port/likely.h"

DYNSEL_TAKE_DEFAULT_MEMORY(enter_domain);

dynsel_domain_record dynsel_domains[CONFIG_DYNSEL_MAX_DOMAINS];
uint32_t dynsel_domain_count;

static bool has_copies(uint32_t domain)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        if (dynsel_buffers[i].copies[domain - 1].memory.native != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether published work will run in the domain. Takes references, because the slot of a finished
 * group may be reused. */
static bool is_awaited(uint32_t domain)
{
    bool awaited = false;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT && !awaited; i++) {
        dynsel_slot *slot = &dynsel_slots[i];
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        if (dynsel_slot_ref_reserved(slot, dynsel_slot_generation(word))) {
            awaited = slot->can_be_pending && dynsel_all_uses[i].domain == domain;
            dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
        }
    }
    return awaited;
}

/* A free place, or else that of a domain that is no longer needed; DYNSEL_HOST_DOMAIN: none. */
static uint32_t find_place(void)
{
    for (uint32_t domain = 1; domain <= CONFIG_DYNSEL_MAX_DOMAINS; domain++) {
        if (dynsel_domains[domain - 1].backend == NULL) {
            return domain;
        }
    }
    for (uint32_t domain = 1; domain <= CONFIG_DYNSEL_MAX_DOMAINS; domain++) {
        if (!has_copies(domain) && !is_awaited(domain)) {
            return domain;
        }
    }
    return DYNSEL_HOST_DOMAIN;
}

enum { NEVER_BESIDE = 63 };

/* Rounded up; more than any copy has if none moves beside. */
static uint8_t beside_power_of(uint32_t bytes)
{
    uint8_t power = 0;
    while (power < NEVER_BESIDE && (uint64_t)1 << power < bytes) {
        power++;
    }
    return bytes != 0 ? power : (uint8_t)NEVER_BESIDE;
}

DYNSEL_RARE static dynsel_status enter(dynsel_backend *backend, void *own, uint32_t number,
                                       uint32_t *domain)
{
    *domain = find_place();
    if (*domain == DYNSEL_HOST_DOMAIN) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_submit_command_group"), DYNSEL_E_FULL,
                              DYNSEL_OPTION(MAX_DOMAINS,
                                            "and as many memory domains are in use: set "
                                            "it to {} or more, or end the buffers of one"),
                              CONFIG_DYNSEL_MAX_DOMAINS + 1);
    }
    while (dynsel_staging_evict(*domain)) {
    }
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        dynsel_domains[i].apart = dynsel_copies_without(dynsel_domains[i].apart, *domain);
    }
#endif
    dynsel_domains[*domain - 1] = (dynsel_domain_record){
        .backend = dynsel_domains_of(backend),
        .number = number,
        .beside_power = beside_power_of(dynsel_domain_ask(backend, own).beside_bytes)};
    dynsel_domain_count = *domain > dynsel_domain_count ? *domain : dynsel_domain_count;
    return DYNSEL_OK;
}

dynsel_status dynsel_domain_enter(dynsel_backend *backend, void *own, uint32_t number,
                                  uint32_t *domain)
{
    *domain = dynsel_domain_find(backend, number);
    return DYNSEL_LIKELY(*domain != DYNSEL_HOST_DOMAIN) || number == 0
               ? DYNSEL_OK
               : enter(backend, own, number, domain);
}
