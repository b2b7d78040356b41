/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether the copies that a command group needs are available, and what has to be
 * transferred. */
#ifndef DYNSEL_DATA_COHERENCE_H
#define DYNSEL_DATA_COHERENCE_H

#include <stdbool.h>

#include <dynsel/status.h>

#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "port/likely.h"

/* The result of a look at the data of a command group. */
typedef struct dynsel_outlook {
    /* DYNSEL_OK: the group may be started, and its effect on the copies is committed.
     * DYNSEL_E_AGAIN: not yet. Another failure (`error` set): data that it reads are lost. */
    dynsel_status status;
    /* With DYNSEL_E_AGAIN: the buffer of a copy to the host that the caller begins; NULL: none. */
    dynsel_buffer_record *copy_out;
} dynsel_outlook;

/* Under the lock, for a command group whose dependencies allow the start, a host accessor, or
 * dynsel_buffer_deinit(). Polls running copies to the host; where it ends one, it sets
 * `copy_out_ended` of the use, and the caller notifies the watchers. */
dynsel_outlook dynsel_coherence_look(dynsel_uses *uses, dynsel_error *error);

#if CONFIG_DYNSEL_REPEAT
/* Under the lock, for work whose second run is not started anywhere: puts back what the first run
 * spoilt in the host's memory, as far as that can be had. The outlook has no failure; otherwise as
 * dynsel_coherence_look(). */
DYNSEL_RARE dynsel_outlook dynsel_coherence_put_back(dynsel_uses *uses);
#endif

/* Under the lock, after DYNSEL_E_AGAIN: finds the work that has to end before the data are
 * available: started work, or an open host accessor. False: none, for example while a copy to the
 * host runs. */
bool dynsel_coherence_find_dependency(const dynsel_uses *uses, uint32_t *token);

/* Under the lock: whether data would have to be moved for work in the domain that reads them. A
 * copy that is or would be the host's memory needs no move. is_host: the resource works in the
 * host's memory; false with DYNSEL_HOST_DOMAIN: a domain that has no copies yet. */
bool dynsel_coherence_would_move(const dynsel_buffer_record *record, uint32_t domain, bool is_host);

#endif
