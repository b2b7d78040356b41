/* SPDX-License-Identifier: Apache-2.0 */
/* A store of learned tables in memory that never fails. */
#ifndef DYNSEL_TESTS_LEARNED_MEMORY_H
#define DYNSEL_TESTS_LEARNED_MEMORY_H

#include <dynsel/learned.h>

#include <string.h>

static unsigned char memory_bytes[2 * DYNSEL_LEARNED_MOST_BYTES];

static inline dynsel_status memory_read(void *context, size_t offset, void *to, size_t count)
{
    (void)context;
    (void)memcpy(to, memory_bytes + offset, count);
    return DYNSEL_OK;
}

static inline dynsel_status memory_write(void *context, size_t offset, const void *from,
                                         size_t count)
{
    (void)context;
    (void)memcpy(memory_bytes + offset, from, count);
    return DYNSEL_OK;
}

static const dynsel_learned_store store = {.read = memory_read,
                                           .write = memory_write,
                                           .area_bytes = DYNSEL_LEARNED_MOST_BYTES,
                                           .areas = 2,
                                           .align = 1};

#endif
