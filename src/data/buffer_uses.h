/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which work uses which buffers: the interface between command groups and data.
 *
 * dynsel_uses: the buffers and ranges of host memory that the work of a slot uses, and the
 * decisions for its start. One per slot, owned by the thread that claimed the slot; after
 * publication, members under the lock of src/data/buffers.h are changed only under it.
 *
 * The users of a buffer are its last writer and the readers since, which are in its record, and
 * former users: earlier work that may not be over although later work was started behind it on an
 * in-order device. They are in a list per buffer.
 */
#ifndef DYNSEL_DATA_BUFFER_USES_H
#define DYNSEL_DATA_BUFFER_USES_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/accessor.h>
#include <dynsel/memory.h>

#include "data/buffers.h"
#include "port/cache_line.h"
#include "submission/kept.h"
#include "submission/slot.h"

/* The use of one buffer by all accessors of a command group together. */
typedef struct dynsel_use {
    struct dynsel_buffer_record *record;
    uint32_t token; /* of the handle: another thread may end the buffer until the group is entered
                       into the order */
    /* Under the lock: the number of entry of the last writer before this group; 0: none. */
    uint32_t source;
    /* Under the lock: token + 1 of earlier work on the same resource that copies in the data which
     * this use reads, if only the queue orders the two; 0: none. */
    uint32_t relies_on;
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    /* Here, where there is room: part of the decision below. With copy_in: the domain of the copy
     * whose contents are passed on; DYNSEL_HOST_DOMAIN: the contents are the host's. */
    uint8_t passed_from;
#endif
    const char *name; /* of the first accessor */
    bool reads;       /* the old contents are needed */
    bool writes;
    /* The decision for the start, made under the lock and read by the starting thread. */
    bool allocate;       /* allocates the copy in the domain */
    bool copy_in;        /* hands the memory to the device, or makes new memory known to it */
    bool contents;       /* copies the contents */
    bool may_share;      /* the new copy may be the host's memory */
    bool copied_in;      /* the copy in was started */
    bool copy_out_ended; /* the last look ended a copy to the host */
    bool copied_out;     /* the data were copied to the host for this use */
#if CONFIG_DYNSEL_REPEAT
    bool spoilt; /* a first run overwrites the contents, until they are put back */
#endif
    /* The validity before the decision, to roll it back. */
    bool was_valid; /* the copy in the domain */
    bool host_was_valid;
    dynsel_copy_set others_valid; /* the copies in other domains */
} dynsel_use;

/* Whether a use of this mode discards the old contents; of a part of a buffer, of this part only.
 * */
static inline bool dynsel_mode_discards(uint32_t mode)
{
    return mode == DYNSEL_ACCESS_DISCARD_WRITE || mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
}

/* The domain of the copy whose contents the start passes on; DYNSEL_HOST_DOMAIN: none. */
static inline uint32_t dynsel_use_passed_from(const dynsel_use *use)
{
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    return use->copy_in ? use->passed_from : (uint32_t)DYNSEL_HOST_DOMAIN;
#else
    (void)use;
    return DYNSEL_HOST_DOMAIN;
#endif
}

/* Decides where the contents come from, before each decision on `copy_in`. */
static inline void dynsel_use_pass_from(dynsel_use *use, uint32_t domain)
{
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    use->passed_from = (uint8_t)domain;
#else
    (void)use;
    (void)domain;
#endif
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

/* The number of a use: slot and index in the slot; from 1 on. */
#if CONFIG_DYNSEL_MAX_IN_FLIGHT * CONFIG_DYNSEL_MAX_REQUIREMENTS < 65536
typedef uint16_t dynsel_use_number;
#else
typedef uint32_t dynsel_use_number;
#endif

/* A use by a former user of the buffer: an entry in the list of the buffer. */
typedef struct dynsel_former_use {
    dynsel_use_number next; /* 0: none */
    dynsel_use_number previous;
    uint16_t buffer; /* the place of the buffer in its table + 1; 0: the entry is free */
} dynsel_former_use;

/* A pointer of a range to host memory that devices get a copy of. */
typedef struct dynsel_staged {
    dynsel_memory memory; /* host, bytes: the host memory; native: its staging memory */
    uint16_t place;       /* of the staging memory in its table, under the lock */
    bool in;              /* the contents are read */
    bool out;             /* the contents are written */
    bool fresh;           /* the staging memory is new, and was not made usable before */
    bool came;            /* was copied in */
    bool went;            /* was copied out */
} dynsel_staged;

/* In the order of their use: most work needs the first two cache lines. */
typedef struct dynsel_uses {
    _Alignas(DYNSEL_LINE_BYTES) uint32_t token; /* of the slot, + 1 */
    uint32_t count;
    uint32_t staged_count;
    uint32_t kind; /* the id of this kind of work */

    /* Under the lock. */
    uint32_t order;            /* the number of entry, which wraps */
    uint32_t opener;           /* of a host accessor: the thread that opens it; else 0 */
    uint32_t domain;           /* of its resource: DYNSEL_HOST_DOMAIN or a place in the table + 1 */
    uint32_t decided;          /* `token` once the start is decided */
    uint32_t obstacle;         /* token + 1 of work that has to end before the data are available;
                                  0: none */
    uint32_t relies_on;        /* `relies_on` of its uses; `token` if they differ */
    uint32_t after_count;      /* of `after`; set when the start is decided */
    uint32_t former_user;      /* token + 1 of the owner of `former`; 0: `former` is empty */
    const dynsel_queue *queue; /* of its resource; other threads must not read that from the slot */
    void *own;                 /* work.own of its run */
    bool in_order;             /* the queue runs work in the order of the starts */
    bool will_fail;            /* it will not be started */
    bool undone;               /* its start failed: the effect of the command was rolled back */
    bool resident;             /* the start is decided, and needs no transfer */
    bool wants_staging;        /* it is the first in its domain that waits for staging memory */
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    bool goes_around; /* its start is withdrawn, because a copy cannot be passed on: until
                         dynsel_uses_look_again() */
#endif
#if CONFIG_DYNSEL_REPEAT
    bool repeatable; /* its inputs are preserved until it is over, and later users wait for that */
    bool second_run;
    dynsel_kept_blocks blocks; /* one for each buffer that it reads and writes */
#endif

#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0
    uint32_t external_count;
#endif
    dynsel_use each[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    uint32_t former_end; /* the entries of `former` from here on were not used for `former_user` */
    dynsel_former_use former[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    /* Tokens of work whose event the command waits for. */
    uint32_t after[CONFIG_DYNSEL_MAX_DEPENDENCIES + CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_staged staged[CONFIG_DYNSEL_MAX_STAGED];
#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0
    dynsel_external_event external[CONFIG_DYNSEL_EXTERNAL_EVENTS];
#endif
} dynsel_uses;

extern dynsel_uses dynsel_all_uses[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* Under the lock, while the stage of the token is not DYNSEL_STAGE_OVER, the members under the lock
 * belong to that work. */
static inline dynsel_uses *dynsel_uses_in(uint32_t token)
{
    return &dynsel_all_uses[dynsel_slot_number_in(token) - 1];
}

/* The slot of a token. */
static inline dynsel_slot *dynsel_slot_of_token(uint32_t token)
{
    return dynsel_slot_at(dynsel_slot_number_in(token));
}

/* The slot of uses that are in use. */
static inline dynsel_slot *dynsel_uses_slot(const dynsel_uses *uses)
{
    return dynsel_slot_of_token(uses->token - 1);
}

/* Whether the work preserves its inputs, so that it can run a second time. */
static inline bool dynsel_uses_are_preserved(const dynsel_uses *uses)
{
#if CONFIG_DYNSEL_REPEAT
    return uses->repeatable;
#else
    (void)uses;
    return false;
#endif
}

/* Whether the start is withdrawn: the caller looks at the data again. */
static inline bool dynsel_uses_go_around(const dynsel_uses *uses)
{
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    return uses->goes_around;
#else
    (void)uses;
    return false;
#endif
}

/* The caller does so. */
static inline void dynsel_uses_look_again(dynsel_uses *uses)
{
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    uses->goes_around = false;
#else
    (void)uses;
#endif
}

/* Whether a first run left spoilt contents, in the host's memory unless they are discarded. */
static inline bool dynsel_is_spoilt(const dynsel_uses *uses, const dynsel_use *use)
{
#if CONFIG_DYNSEL_REPEAT
    return uses->second_run && use->spoilt;
#else
    (void)uses;
    (void)use;
    return false;
#endif
}

/* Whether they are kept, and are put back into the host's memory before the second run starts. */
static inline bool dynsel_is_put_back(const dynsel_uses *uses, const dynsel_use *use)
{
    return use->reads && dynsel_is_spoilt(uses, use);
}

/* Whether the contents have to be valid in the host's memory for the sake of a second run. */
static inline bool dynsel_is_wanted_on_host(const dynsel_uses *uses, const dynsel_use *use)
{
    return (use->reads && dynsel_uses_are_preserved(uses)) || dynsel_is_put_back(uses, use);
}

/* Under the lock: keeps the unfinished writer and readers of the buffer as former users, before
 * they are replaced. */
void dynsel_users_replaced(dynsel_buffer_record *record);

/* Under the lock: all earlier work of the slot is over. */
void dynsel_users_forget(dynsel_uses *uses);

/* Under the lock: token + 1 of work that uses the buffer and is not over; 0: none. has_ended: out,
 * whether it has ended all the same, on its device, because later work that came behind it is over:
 * only its queue has not seen that yet. */
uint32_t dynsel_buffer_user(dynsel_buffer_record *record, bool *has_ended);

#if CONFIG_DYNSEL_TIME_LIMITS
/* Under the lock: the work was given up. A resource that is polled, and never asked again, may use
 * the program's memory of the work's buffers for ever. */
void dynsel_uses_give_up(const dynsel_uses *uses);

/* Under the lock, likewise: the resource may use its copies of these buffers for ever. What nobody
 * else has in them is lost. False: it has none, or its device is lost, with its memory. */
bool dynsel_uses_give_up_copies(const dynsel_uses *uses);

/* Under the lock: whether a resource that was given up may use the host's memory of the buffer with
 * this token. */
bool dynsel_buffer_is_held(const dynsel_buffer_record *record, uint32_t token);
#endif

/* Under the lock: token + 1 of work in the domain, or to which the copy in the domain is passed,
 * that uses the buffer, whose start is decided and which is not over; 0: none. */
uint32_t dynsel_user_of(dynsel_buffer_record *record, uint32_t domain);

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* Under the lock: whether copies in the domain are passed to work that is not over. */
bool dynsel_domain_is_passed_from(uint32_t domain);
#endif

#endif
