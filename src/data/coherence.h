/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be moved before a command group can be started. */
#ifndef DYNSEL_DATA_COHERENCE_H
#define DYNSEL_DATA_COHERENCE_H

#include <stdbool.h>

#include <dynsel/status.h>

#include "data/buffers.h"
#include "data/uses.h"

/* What stands before the start of a command group. */
typedef struct dynsel_outlook {
    /* DYNSEL_OK: it may be started, and its effect on the copies has been entered. DYNSEL_E_AGAIN:
     * not yet. Another failure (`error` set): what it reads is lost. */
    dynsel_status status;
    /* With DYNSEL_E_AGAIN: a copy to the host that the caller has to begin; NULL: none. */
    dynsel_buffer_record *copy_out;
} dynsel_outlook;

/* Under the lock, for a command group whose order allows the start (or who only wants data: host
 * accessors, dynsel_buffer_deinit()). Polls copies to the host that run, and ends them:
 * `copy_out_ended` of a use says that those who wait for its copy to the host are to be told. */
dynsel_outlook dynsel_coherence_look(dynsel_uses *uses, dynsel_error *error);

/* Under the lock, after DYNSEL_E_AGAIN: work that has to end first, because of the data; it is
 * being started or was, or is an open host accessor. False: none, as where a copy to the host
 * runs. */
bool dynsel_coherence_find_dependency(const dynsel_uses *uses, uint32_t *token);

/* Under the lock: whether data would have to be moved for work in the domain that needs them. A
 * copy that is or would be the host's memory itself moves nothing in. is_host: of a resource that
 * works in the host's memory; without it, DYNSEL_HOST_DOMAIN is a domain where nothing was yet. */
bool dynsel_coherence_would_move(const dynsel_buffer_record *record, uint32_t domain, bool is_host);

#endif
