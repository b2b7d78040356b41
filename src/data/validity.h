/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the data of a buffer are valid: in the host's memory (DYNSEL_HOST_DOMAIN), and in which
 * copies. Only these functions touch `host_valid` and `valid` of a record, so that a list of
 * intervals can stand there, and each function take a range. Under the lock.
 */
#ifndef DYNSEL_DATA_VALIDITY_H
#define DYNSEL_DATA_VALIDITY_H

#include "data/buffers.h"

/* Copies of a buffer, without the host's memory: bits by domain - 1. */
typedef uint32_t dynsel_copy_set;

_Static_assert(CONFIG_DYNSEL_MAX_DOMAINS <= 32, "a set of copies has a bit for each domain");

static inline dynsel_copy_set dynsel_copy_bit(uint32_t domain)
{
    return 1u << (domain - 1);
}

static inline bool dynsel_is_valid(const dynsel_buffer_record *record, uint32_t domain)
{
    return domain == DYNSEL_HOST_DOMAIN ? record->host_valid
                                        : (record->valid & dynsel_copy_bit(domain)) != 0;
}

static inline void dynsel_set_valid(dynsel_buffer_record *record, uint32_t domain, bool valid)
{
    if (domain == DYNSEL_HOST_DOMAIN) {
        record->host_valid = valid;
    } else {
        const dynsel_copy_set others = record->valid & ~dynsel_copy_bit(domain);
        record->valid = valid ? others | dynsel_copy_bit(domain) : others;
    }
}

/* The copies that are valid. */
static inline dynsel_copy_set dynsel_valid_copies(const dynsel_buffer_record *record)
{
    return record->valid;
}

/* They are valid too. */
static inline void dynsel_add_valid_copies(dynsel_buffer_record *record, dynsel_copy_set copies)
{
    record->valid |= copies;
}

/* Valid there and nowhere else. */
static inline void dynsel_set_valid_only(dynsel_buffer_record *record, uint32_t domain)
{
    record->valid = domain == DYNSEL_HOST_DOMAIN ? 0 : dynsel_copy_bit(domain);
    record->host_valid = domain == DYNSEL_HOST_DOMAIN;
}

#endif
