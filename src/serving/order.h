/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation comes behind: the `after` of its message, and the transfers of its copies.
 *
 * The library orders work by the copies that it uses. Beside that: work behind work by
 * dynsel_depends_on(); behind a transfer of a copy that it uses by the host accessor of that, and
 * it is cancelled if the transfer fails; behind all others it does not begin until they are over.
 */
#ifndef DYNSEL_SERVING_ORDER_H
#define DYNSEL_SERVING_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/memory.h>
#include <dynsel/submission.h>

#include "serving/operations.h"
#include "serving/reader.h"

typedef struct dynsel_served_order {
    const dynsel_submission *behind[DYNSEL_MOST_AFTER]; /* work that goes on */
    uint32_t behind_count;
    uint32_t awaits[DYNSEL_SERVED_AWAITS]; /* numbers of transfers that go on */
    uint32_t awaits_count;
    /* Of data that come: they are received also where what they follow has failed, because the
     * other rank sends them in any case. */
    bool ignores_failures;
} dynsel_served_order;

/* Adds a transfer. DYNSEL_E_AGAIN: there are too many. */
dynsel_status dynsel_served_order_await(dynsel_served_order *order, uint32_t number);

/*
 * Reads the `after` of a message, which is all that is left of it. waits: for all that goes on,
 * work too, as a transfer does, which adds it to `awaits`.
 *
 * DYNSEL_E_INVALID: not that many numbers, or wrong ones. DYNSEL_E_DEPENDENCY: one has failed. Both
 * are the failure of the thread. DYNSEL_E_AGAIN: it cannot begin yet.
 */
dynsel_status dynsel_served_order_read(dynsel_served_order *order, const dynsel_mpi_header *header,
                                       dynsel_served_reader rest, bool waits);

/* Gives an operation that begins what it awaits. */
void dynsel_served_order_keep(const dynsel_served_order *order, dynsel_served *operation);

/* Fails because of an operation that it was to follow. */
dynsel_status dynsel_served_order_fail(uint32_t number);

#endif
