/* SPDX-License-Identifier: Apache-2.0 */
/* The copies that a command group needs before its start. */
#ifndef DYNSEL_DATA_COHERENCE_H
#define DYNSEL_DATA_COHERENCE_H

#include <stdbool.h>

#include <dynsel/status.h>

#include "data/buffer_uses.h"
#include "data/buffers.h"

/* The result of a look at the data of a command group. */
typedef struct dynsel_outlook {
    /* DYNSEL_OK: the group may be started, and its effect on the copies is entered. DYNSEL_E_AGAIN:
     * not yet. Another failure (`error` set): data that it reads are lost. */
    dynsel_status status;
    /* With DYNSEL_E_AGAIN: a copy to the host that the caller has to begin; NULL: none. */
    dynsel_buffer_record *copy_out;
} dynsel_outlook;

/* Under the lock, for a command group whose dependencies allow the start, a host accessor, or
 * dynsel_buffer_deinit(). Polls running copies to the host and ends them: `copy_out_ended` of a use
 * means that their watchers must be notified. */
dynsel_outlook dynsel_coherence_look(dynsel_uses *uses, dynsel_error *error);

/* Under the lock, after DYNSEL_E_AGAIN: finds the work that has to end first because of the data:
 * started work, or an open host accessor. False: none, as while a copy to the host runs. */
bool dynsel_coherence_find_dependency(const dynsel_uses *uses, uint32_t *token);

/* Under the lock: whether data would have to be moved for work in the domain that needs them. A
 * copy that is or would be the host's memory itself moves nothing in. is_host: of a resource that
 * works in the host's memory; without it, DYNSEL_HOST_DOMAIN is a domain where nothing was yet. */
bool dynsel_coherence_would_move(const dynsel_buffer_record *record, uint32_t domain, bool is_host);

#endif
