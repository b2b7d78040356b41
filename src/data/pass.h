/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the data of a buffer from the copy in one domain to that in another, without the host's
 * memory; see `pass` of dynsel_memory_ops. */
#ifndef DYNSEL_DATA_PASS_H
#define DYNSEL_DATA_PASS_H

#include <stdbool.h>

#include "data/buffer_uses.h"
#include "data/validity.h"

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS

/* Under the lock, for contents that are needed in the domain of the work, and valid neither there
 * nor in the host's memory: the domain whose copy can be passed there, preferably one that no work
 * brings its data to; DYNSEL_HOST_DOMAIN: none. */
uint32_t dynsel_pass_find_source(const dynsel_uses *uses, const dynsel_use *use);

/* A transfer was begun. Takes the lock. */
void dynsel_pass_count(const dynsel_uses *uses, const dynsel_use *use);

/* The backend refused the transfer from the copy in domain `source`. Withdraws the start, if the
 * data can go another way or the device of the copy is lost; else the start fails. failure: its
 * details. Takes the lock. */
void dynsel_pass_goes_around(dynsel_uses *uses, dynsel_buffer_record *record, uint32_t source,
                             const dynsel_error *failure);

#else

static inline uint32_t dynsel_pass_find_source(const dynsel_uses *uses, const dynsel_use *use)
{
    (void)uses;
    (void)use;
    return DYNSEL_HOST_DOMAIN;
}

#endif

#endif
