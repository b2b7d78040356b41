/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the data of a buffer are valid: in the host's memory (DYNSEL_HOST_DOMAIN), and in which
 * copies. Only this file depends on how that is stored: others keep a dynsel_validity or a
 * dynsel_copy_set, and call these functions. Under the lock of src/data/buffers.h.
 */
#ifndef DYNSEL_DATA_VALIDITY_H
#define DYNSEL_DATA_VALIDITY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DYNSEL_HOST_DOMAIN = 0 /* domains of devices count from 1: their place in the table + 1 */
};

/* A set of copies of a buffer, without the host's memory: bits by domain - 1. */
typedef uint32_t dynsel_copy_set;

_Static_assert(CONFIG_DYNSEL_MAX_DOMAINS <= 32, "a set of copies has a bit for each domain");

typedef struct dynsel_validity {
    dynsel_copy_set copies;
    bool host;
} dynsel_validity;

/* The set that contains only the copy in this domain. */
static inline dynsel_copy_set dynsel_copy_alone(uint32_t domain)
{
    return 1u << (domain - 1);
}

static inline bool dynsel_copy_is_in(dynsel_copy_set copies, uint32_t domain)
{
    return (copies & dynsel_copy_alone(domain)) != 0;
}

static inline dynsel_copy_set dynsel_copies_without(dynsel_copy_set copies, uint32_t domain)
{
    return copies & ~dynsel_copy_alone(domain);
}

static inline bool dynsel_is_valid(const dynsel_validity *validity, uint32_t domain)
{
    return domain == DYNSEL_HOST_DOMAIN ? validity->host
                                        : dynsel_copy_is_in(validity->copies, domain);
}

static inline void dynsel_set_valid(dynsel_validity *validity, uint32_t domain, bool valid)
{
    if (domain == DYNSEL_HOST_DOMAIN) {
        validity->host = valid;
    } else {
        const dynsel_copy_set others = dynsel_copies_without(validity->copies, domain);
        validity->copies = valid ? others | dynsel_copy_alone(domain) : others;
    }
}

/* Whether the data are valid anywhere but in this domain. */
static inline bool dynsel_is_valid_elsewhere(const dynsel_validity *validity, uint32_t domain)
{
    return validity->host || dynsel_copies_without(validity->copies, domain) != 0;
}

static inline bool dynsel_is_valid_anywhere(const dynsel_validity *validity)
{
    return validity->host || validity->copies != 0;
}

/* The valid copies. */
static inline dynsel_copy_set dynsel_valid_copies(const dynsel_validity *validity)
{
    return validity->copies;
}

/* The domain of a valid copy; DYNSEL_HOST_DOMAIN: no copy is valid. */
static inline uint32_t dynsel_first_valid_copy(const dynsel_validity *validity)
{
    uint32_t domain = validity->copies != 0 ? 1 : DYNSEL_HOST_DOMAIN;
    while (domain != DYNSEL_HOST_DOMAIN && !dynsel_copy_is_in(validity->copies, domain)) {
        domain++;
    }
    return domain;
}

/* Marks these copies as valid too. */
static inline void dynsel_add_valid_copies(dynsel_validity *validity, dynsel_copy_set copies)
{
    validity->copies |= copies;
}

/* Marks the data as valid in this domain only. */
static inline void dynsel_set_valid_only(dynsel_validity *validity, uint32_t domain)
{
    validity->copies = domain == DYNSEL_HOST_DOMAIN ? 0 : dynsel_copy_alone(domain);
    validity->host = domain == DYNSEL_HOST_DOMAIN;
}

#endif
