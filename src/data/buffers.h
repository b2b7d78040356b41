/* SPDX-License-Identifier: Apache-2.0 */
/* The table of buffers, all under the lock unless noted. */
#ifndef DYNSEL_DATA_BUFFERS_H
#define DYNSEL_DATA_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/buffer.h>
#include <dynsel/memory.h>
#include <dynsel/selection.h>
#include <dynsel/word.h>

#include "data/regions.h"
#include "data/validity.h"
#include "port/atomic.h"
#include "port/likely.h"
#include "port/spinlock.h"

/* One lock for all buffers, domains and waiting command groups, held for short moments: never while
 * work is started or polled, nor while a user's function or a driver's call that may block runs. */
extern dynsel_spinlock dynsel_memory_lock;

/* The copy of a buffer in one domain. */
typedef struct dynsel_copy_record {
    dynsel_memory memory; /* memory.native NULL: there is none */
    void *own;            /* the resource of the domain that it was allocated with */
    const void *since_on; /* the queue of `since`, which knows its failures first */
    uint32_t since;       /* token + 1 of the work that copied it in; until that is over, other work
                             comes after it */
    uint32_t missed;      /* token + 1 of the last work that failed to copy it in */
    uint32_t used;        /* when it was used last, by the domain's count of uses */
    bool lost;            /* its device failed: to be given up before it is used again */
} dynsel_copy_record;

typedef enum dynsel_copy_out_state {
    DYNSEL_NO_COPY_OUT,
    DYNSEL_COPY_OUT_BEGINS, /* by one thread, which has let the lock go */
    DYNSEL_COPY_OUT_RUNS
} dynsel_copy_out_state;

/* A copy into the host's memory. */
typedef struct dynsel_copy_out {
    uint8_t state; /* a dynsel_copy_out_state */
    bool contents; /* the data are copied, not only the memory mapped */
    bool gives_up; /* no data: the copy was lost, and its memory is freed */
    bool to_write;
    bool timed;      /* its time has to be reported: see src/data/readback_time.h */
    uint32_t domain; /* from where */
    void *own;
    dynsel_event done;
    uint64_t began_ns; /* these two only where it is timed */
    uint64_t seen_ns;  /* when it was last seen to go on */
} dynsel_copy_out;

/* What failed work did to a buffer; see src/groups/failures.h. Versions of the contents are called
 * by the number of entry of the work that writes them; 0: none. */
typedef struct dynsel_buffer_failures {
    dynsel_word known;           /* 0: there is none; these three are read without the lock too */
    dynsel_word lost;            /* the version that was being written by work that failed */
    dynsel_word undone;          /* a version that was never begun: its readers fail */
    uint32_t in_place_of_undone; /* the version that is there instead */
    dynsel_error loss;           /* why it was lost, */
    dynsel_error undoing;        /* and why it was not begun */
} dynsel_buffer_failures;

/* The work whose policy gets the time of the copy back. */
typedef struct dynsel_writer {
    dynsel_selection selection; /* of the work that wrote them; policy NULL: nobody */
    uint32_t id;                /* of its kind */
} dynsel_writer;

typedef struct dynsel_buffer_record {
    dynsel_word token; /* of the handle; 0: free. Read without the lock too, so it comes first: the
                          rest is zeroed while others may look at it. */
    uint32_t generation;
    void *data;
    size_t element_bytes; /* these three do not change while the buffer lives */
    size_t bytes;
    dynsel_range range;

    /* Token + 1 of the last work that writes it, in order of submission; 0: none. And the number of
     * its entry; 0: there never was one. */
    uint32_t writer;
    uint32_t writer_order;
    uint32_t readers[CONFIG_DYNSEL_MAX_READERS]; /* tokens + 1 of those that read it since */
    uint32_t reader_count;
    uint32_t
        first_former; /* src/data/buffer_uses.h: earlier work that is not over, as far as known */
    uint32_t last_former;
    dynsel_word watchers; /* of the copy to the host; src/groups/watch.h */
    dynsel_buffer_failures failures;

    dynsel_validity validity;
    bool host_read;            /* work in the host's domain that reads it may be on its way */
    uint8_t copy_out_failures; /* in a row, of the copy to the host that is wanted now */
    /* The domain from which copies to the host are refused; 0: none. Cleared when the failure is
     * reported. */
    uint8_t copy_out_refused;
    uint32_t shared_by; /* the domain whose copy is the host's memory itself, or will be when it is
                           allocated; 0: none */
    dynsel_copy_out copy_out;
    dynsel_error copy_out_failure;                        /* the last */
    dynsel_writer wrote;                                  /* the data as they are now */
    dynsel_copy_record copies[CONFIG_DYNSEL_MAX_DOMAINS]; /* by domain - 1 */
    dynsel_movement movement;
#if CONFIG_DYNSEL_BUFFER_INSIDE_BYTES > 0
    _Alignas(16) unsigned char inside[CONFIG_DYNSEL_BUFFER_INSIDE_BYTES];
#endif
} dynsel_buffer_record;

extern dynsel_buffer_record dynsel_buffers[CONFIG_DYNSEL_MAX_BUFFERS];

/* A handle's token: the place in the table, from 1 on, below a generation, which is never 0. The
 * record of a buffer that is being ended has a token without a place, which is nobody's handle. */
enum { DYNSEL_PLACE_BITS = 11, DYNSEL_PLACES = (1 << DYNSEL_PLACE_BITS) - 1 };

_Static_assert(CONFIG_DYNSEL_MAX_BUFFERS <= DYNSEL_PLACES,
               "a token has no room for so many places");

/* Of a handle that has, or had, a record: the number of that. */
static inline uint32_t dynsel_buffer_place(dynsel_buffer buffer)
{
    return (buffer.token & DYNSEL_PLACES) - 1;
}

/* Whether the record is that of this handle. */
static inline bool dynsel_buffer_is(const dynsel_buffer_record *record, uint32_t token)
{
    return dynsel_word_load_acquire(&record->token) == token;
}

/* The record of a handle; NULL when it was ended, or is none (see dynsel_buffer_refuse()). Without
 * the lock only if the buffer is known to exist, or its record is not read. */
static inline dynsel_buffer_record *dynsel_buffer_find(dynsel_buffer buffer)
{
    const uint32_t place = dynsel_buffer_place(buffer);
    return DYNSEL_LIKELY(place < CONFIG_DYNSEL_MAX_BUFFERS &&
                         dynsel_buffer_is(&dynsel_buffers[place], buffer.token))
               ? &dynsel_buffers[place]
               : NULL;
}

/* Fails because of a handle that has no record. function: static; subject: the accessor's name or
 * NULL. */
dynsel_status dynsel_buffer_refuse(const char *function, const char *subject, dynsel_buffer buffer);

/* The constant properties of a buffer; false: it does not exist. Takes the lock. */
bool dynsel_buffer_shape(dynsel_buffer buffer, dynsel_shape *shape);

/* Takes the buffer from its handles, as if it had been ended; its place is not free yet. */
void dynsel_buffer_hide(dynsel_buffer_record *record);

#endif
