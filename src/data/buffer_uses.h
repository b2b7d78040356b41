/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the work in a slot uses buffers and ranges of host memory, and the decisions for its start:
 * the interface between command groups and data. One per slot, owned by the thread that claimed the
 * slot; after publication the parts marked below are changed only under the lock.
 */
#ifndef DYNSEL_DATA_BUFFER_USES_H
#define DYNSEL_DATA_BUFFER_USES_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/accessor.h>
#include <dynsel/memory.h>

#include "data/buffers.h"
#include "submission/slot.h"

/* The use of one buffer by all accessors of the command group together. */
typedef struct dynsel_use {
    struct dynsel_buffer_record *record;
    /* Of its handle: until the order is entered another thread may end the buffer. */
    uint32_t token;
    /* Under the lock: the number of entry of the last work that writes it before this; 0: none. */
    uint32_t source;
    /* Under the lock: token + 1 of work ahead on the same resource that copies in the data it
     * reads, if only the resource's order makes it come after that; 0: none. */
    uint32_t relies_on;
    const char *name; /* of the first accessor */
    bool reads;       /* the old contents are needed */
    bool writes;
    /* The decision for the start, made under the lock and read by the starting thread. */
    bool allocate;       /* there is no copy in the domain yet */
    bool copy_in;        /* memory has to be handed to the device, or is new there */
    bool contents;       /* its contents have to be copied */
    bool may_share;      /* what is allocated may be the host's memory */
    bool copied_in;      /* the copy in was started */
    bool copy_out_ended; /* at the last look */
    bool copied_out;     /* data were copied to the host's memory for it */
    bool was_valid;      /* to take the decision back: the copy in the domain, */
    bool host_was_valid;
    dynsel_copy_set others_valid; /* and those in other domains */
} dynsel_use;

/* Whether a use of this mode discards the old contents; of a part of a buffer, of this part only. */
static inline bool dynsel_mode_discards(uint32_t mode)
{
    return mode == DYNSEL_ACCESS_DISCARD_WRITE || mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
}

/* Resets the decision. */
static inline void dynsel_use_reset(dynsel_use *use)
{
    use->allocate = false;
    use->copy_in = false;
    use->contents = false;
    use->may_share = false;
    use->copied_in = false;
    use->relies_on = 0;
}

/* Numbers one use of a buffer by one slot. */
#if CONFIG_DYNSEL_MAX_IN_FLIGHT * CONFIG_DYNSEL_MAX_REQUIREMENTS < 65536
typedef uint16_t dynsel_use_number;
#else
typedef uint32_t dynsel_use_number;
#endif

/* A use that was replaced in its buffer before it was over; see src/data/buffer_uses.h. */
typedef struct dynsel_former_use {
    dynsel_use_number next; /* of the same buffer; 0: none */
    dynsel_use_number previous;
    uint16_t buffer; /* its place in the table + 1; 0: there is none */
} dynsel_former_use;

/* A pointer in a range, to the host's memory. */
typedef struct dynsel_staged {
    dynsel_memory memory; /* host, bytes: what it points to; native: of the staging memory that was
                             taken for it */
    uint16_t place;       /* of that in the table, under the lock */
    bool in;              /* the contents are needed */
    bool out;             /* and written */
    bool fresh;           /* allocated for this start */
    bool came;            /* was copied in */
    bool went;            /* was copied back */
} dynsel_staged;

typedef struct dynsel_uses {
    uint32_t token; /* of the slot, + 1 */
    uint32_t count;
    uint32_t staged_count;
    uint32_t kind; /* tells this kind of work from others */

    /* Under the lock. */
    uint32_t order;            /* the number of its entry, counted round */
    uint32_t opener;           /* of a host accessor: the thread that asked for it; else 0 */
    uint32_t domain;           /* where it runs: DYNSEL_HOST_DOMAIN or a place in the table + 1 */
    uint32_t decided;          /* `token` once it was decided to start it */
    uint32_t obstacle;         /* token + 1 of work whose end its data wait for; 0: none */
    uint32_t relies_on;        /* that of its uses; `token` where they differ */
    uint32_t after_count;      /* work to come after by its event; set when the start was decided */
    uint32_t former_user;      /* token + 1 of the owner of `former`; 0: it is empty */
    const dynsel_queue *queue; /* where it will run; other threads must not read that from the
                                  slot */
    bool in_order;             /* its resource runs work in the order in which it was started */
    bool will_fail;            /* it will not be started */
    bool undone;               /* its start failed: its command changes nothing, as is entered */
    bool resident;             /* the start was decided, and nothing has to be moved for it */
    bool wants_staging;        /* it is the first in its domain that waits for staging memory */

    uint32_t after[CONFIG_DYNSEL_MAX_DEPENDENCIES + CONFIG_DYNSEL_MAX_REQUIREMENTS]; /* tokens */
    dynsel_use each[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_former_use former[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_staged staged[CONFIG_DYNSEL_MAX_STAGED];
} dynsel_uses;

extern dynsel_uses dynsel_all_uses[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* While the stage of a token is not DYNSEL_STAGE_OVER, and under the lock, what is the lock's here
 * belongs to that work. */
static inline dynsel_uses *dynsel_uses_in(uint32_t token)
{
    return &dynsel_all_uses[dynsel_slot_number_in(token) - 1];
}

/* Of work that is in use. */
static inline dynsel_slot *dynsel_uses_slot(const dynsel_uses *uses)
{
    return dynsel_slot_at(dynsel_slot_number_in(uses->token - 1));
}

/* The buffer's writer and readers are about to be replaced. */
void dynsel_users_replaced(dynsel_buffer_record *record);

/* All that the slot was used for before is over. */
void dynsel_users_forget(dynsel_uses *uses);

/* Whether work that is not over uses it. */
bool dynsel_buffer_in_use(dynsel_buffer_record *record);

/* Token + 1 of work in the domain that uses the buffer, for which the start was decided, and which
 * is not over; 0: there is none. */
uint32_t dynsel_user_of(dynsel_buffer_record *record, uint32_t domain);

#endif
