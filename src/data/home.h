/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The home of a buffer: the memory where its contents are at first, and at the end. That is the
 * host's memory, or memory on a device that the program allocated: then the copy in that domain is
 * never evicted, and the host's memory is only a place to copy through.
 */
#ifndef DYNSEL_DATA_HOME_H
#define DYNSEL_DATA_HOME_H

#include <stdbool.h>

#include "data/buffers.h"

#if CONFIG_DYNSEL_DEVICE_BUFFERS

/* Whether the copy in the domain is memory of the program. */
static inline bool dynsel_is_home(const dynsel_buffer_record *record, uint32_t domain)
{
    return domain != DYNSEL_HOST_DOMAIN && record->home == domain;
}

/* The copy was removed from the table: only because its device failed, or at the end. */
static inline void dynsel_home_note_taken(dynsel_buffer_record *record, uint32_t domain)
{
    if (dynsel_is_home(record, domain)) {
        record->home = DYNSEL_HOST_DOMAIN;
        record->home_lost = true;
    }
}

/* Under the lock, at the end: whether the contents have to be in the host's memory, to stay there
 * or to be brought home. */
static inline bool dynsel_home_needs_host(const dynsel_buffer_record *record)
{
    return record->home == DYNSEL_HOST_DOMAIN || !dynsel_is_valid(&record->validity, record->home);
}

/* Under the lock: whether the device of the home failed. */
bool dynsel_home_is_lost(const dynsel_buffer_record *record);

/* Under the lock, which is released meanwhile: brings the contents of an unused buffer home, from
 * the host's memory if they are not there. Waits. error: out, if it fails. */
dynsel_status dynsel_home_return(dynsel_buffer_record *record, dynsel_error *error);

#else

static inline bool dynsel_is_home(const dynsel_buffer_record *record, uint32_t domain)
{
    (void)record;
    (void)domain;
    return false;
}

static inline void dynsel_home_note_taken(const dynsel_buffer_record *record, uint32_t domain)
{
    (void)record;
    (void)domain;
}

static inline bool dynsel_home_needs_host(const dynsel_buffer_record *record)
{
    (void)record;
    return true;
}

static inline bool dynsel_home_is_lost(const dynsel_buffer_record *record)
{
    (void)record;
    return false;
}

static inline dynsel_status dynsel_home_return(const dynsel_buffer_record *record,
                                               const dynsel_error *error)
{
    (void)record;
    (void)error;
    return DYNSEL_OK;
}

#endif

#endif
