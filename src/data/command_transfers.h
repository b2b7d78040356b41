/* SPDX-License-Identifier: Apache-2.0 */
/* The transfers for one command on a device: allocates copies, copies buffers and ranges in before
 * the command, and ranges out after it. Without the lock. */
#ifndef DYNSEL_DATA_COMMAND_TRANSFERS_H
#define DYNSEL_DATA_COMMAND_TRANSFERS_H

#include <dynsel/backend.h>
#include <dynsel/memory.h>

#include "data/buffer_uses.h"

typedef struct dynsel_transfers {
    dynsel_uses *uses;
    const dynsel_resource *where;
    dynsel_backend *backend;
    const dynsel_memory_ops *ops;
    void *own;
    uint32_t referenced;  /* how many entries of uses->after are referenced, from the first on */
    uint32_t after_count; /* how many of `events` are of referenced work, or external */
    uint32_t event_count; /* the same and those of copies in */
    dynsel_event events[DYNSEL_MOST_AFTER];
} dynsel_transfers;

/* References the work of uses->after, and collects its events, and the external ones. */
void dynsel_transfers_begin(dynsel_transfers *t, dynsel_uses *uses, const dynsel_resource *where);

/* Before the command: transfers in, as decided. A failure after which dynsel_uses_go_around() is
 * true: the start is withdrawn, and has left nothing in flight. */
dynsel_status dynsel_transfers_in(dynsel_transfers *t);

/* After the start of the command: copies ranges out. The event of the last copy replaces that of
 * the command. */
dynsel_status dynsel_transfers_out(const dynsel_transfers *t, dynsel_event *done);

/* Releases events and references. started: the command was started, or done->native is its event;
 * else the event of the last copy in replaces it. */
void dynsel_transfers_end(const dynsel_transfers *t, bool started, dynsel_event *done);

/* Frees memory in the domain of the work: staging memory, or else a copy. False: none can be freed;
 * always in the host's memory. Takes the lock. */
bool dynsel_transfers_make_room(const dynsel_uses *uses);

#endif
