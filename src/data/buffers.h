/* SPDX-License-Identifier: Apache-2.0 */
/* The table of buffers. Under the lock unless noted. */
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
#include "port/cache_line.h"
#include "port/likely.h"
#include "port/spinlock.h"

/* The lock of all buffers, domains and waiting command groups. It is held for short times: never
 * while work is started or polled, and never during a user's function or a driver's call that may
 * block. */
extern dynsel_spinlock dynsel_memory_lock;

/* The copy of a buffer in one domain. */
typedef struct dynsel_copy_record {
    uint32_t since;       /* token + 1 of the work that copies the data in; other users of the copy
                             come after that work until it is over */
    uint32_t used;        /* the domain's count of uses at the last use */
    uint32_t missed;      /* token + 1 of the last work that failed to copy the data in */
    bool lost;            /* its device failed: the memory is freed before the next use */
    bool given_up;        /* work that was given up may use the memory for ever: it is not freed */
    bool raw;             /* the memory is new, and was not made usable yet */
    dynsel_memory memory; /* memory.native NULL: there is none */
    void *own;            /* the resource of the domain with which it was allocated */
    const void *since_on; /* the queue of `since`: work behind it in this queue needs no event */
} dynsel_copy_record;

typedef enum dynsel_copy_out_state {
    DYNSEL_NO_COPY_OUT,
    DYNSEL_COPY_OUT_BEGINS, /* one thread begins it, without the lock */
    DYNSEL_COPY_OUT_RUNS
} dynsel_copy_out_state;

/* A copy into the host's memory. */
typedef struct dynsel_copy_out {
    uint8_t state;   /* a dynsel_copy_out_state */
    bool contents;   /* copies the data; false: only maps the memory */
    bool gives_up;   /* copies nothing: frees the memory of a lost copy */
    bool to_write;   /* maps shared memory for writing too */
    bool timed;      /* it is reported: see src/data/readback_time.h */
    uint32_t domain; /* the source */
    void *own;
    dynsel_event done;
    uint64_t began_ns; /* if timed; 0: it is behind other work */
    uint64_t seen_ns;  /* if began_ns is not 0: the last poll that found the copy running */
} dynsel_copy_out;

/* The effect of failed work on a buffer; see src/groups/failures.h. A version of the contents is
 * identified by the number of entry of the work that writes it; 0: none. */
typedef struct dynsel_buffer_failures {
    /* Also read without the lock. */
    dynsel_word known;  /* 0: no failure */
    dynsel_word lost;   /* the version whose writer failed after its command began */
    dynsel_word undone; /* the version whose writer never began: readers of this version fail */

    uint32_t in_place_of_undone; /* the version that the buffer has instead of `undone` */
    dynsel_error loss;           /* the failure behind `lost` */
    dynsel_error undoing;        /* the failure behind `undone` */
} dynsel_buffer_failures;

/* For policies that weigh data: predicted ends on the clock of dynsel_now_ns(), 0: none; and the
 * uses since the program wrote the data, and usually until it does so again, 0: not known; of these
 * the updates, which write the data. */
typedef struct dynsel_buffer_forecast {
    uint64_t writer_end_ns;
    uint64_t readers_end_ns;
    uint64_t expected_ns; /* of dynsel_data_outlook, for the last writer */
    uint32_t writer_on;   /* its resource */
    uint32_t reader_on;   /* that of the reader which ends last */
    uint32_t uses;
    uint32_t usual_uses;
    uint32_t updates;
    uint32_t usual_updates;
} dynsel_buffer_forecast;

/* The work whose policy gets the time of a copy back to the host. */
typedef struct dynsel_writer {
    dynsel_selection selection; /* policy NULL: no work */
    uint32_t id;                /* the kind of the work */
} dynsel_writer;

/* In the order of their use: a command group whose data are resident needs the first four cache
 * lines, and those of many buffers are not in the first-level cache. */
typedef struct dynsel_buffer_record {
    _Alignas(DYNSEL_LINE_BYTES) dynsel_word token; /* of the handle; 0: free. Also read without the
                                                      lock, even while the members behind it are
                                                      zeroed, so it comes first. */
#if CONFIG_DYNSEL_DEVICE_BUFFERS
    dynsel_word access; /* a dynsel_kernel_access. Likewise. */
#endif
    uint32_t generation;

    uint32_t writer;       /* token + 1 of the last work that writes it, by entry; 0: none */
    uint32_t writer_order; /* the number of entry of the last writer ever; 0: none */
    uint32_t reader_count;
    uint32_t first_former; /* the list of former uses; see src/data/buffer_uses.h */
    uint32_t last_former;

    void *data; /* this, the sizes and the range are constant until the buffer is ended */
    size_t bytes;
    dynsel_validity validity;
    dynsel_writer wrote; /* the current data */
    dynsel_movement movement;
    dynsel_copy_out copy_out;
    dynsel_copy_record copies[CONFIG_DYNSEL_MAX_DOMAINS]; /* by domain - 1 */

#if CONFIG_DYNSEL_DEVICE_BUFFERS
    uint32_t home;  /* the domain with the memory of the program, see src/data/home.h;
                       DYNSEL_HOST_DOMAIN: the host's memory is the home */
    bool home_lost; /* its device failed, and the copy was released */
#endif
    bool host_read; /* unfinished work in the host's domain may read it */
#if CONFIG_DYNSEL_TIME_LIMITS
    bool given_up; /* a resource that was given up may use the host's memory for ever */
#endif
    uint8_t copy_out_failures; /* consecutive failures of the copy to the host */
    uint8_t copy_out_refused;  /* the domain from which copies to the host failed for good; 0: none;
                                  cleared when the failure is reported */
    uint32_t shared_by;        /* the domain whose copy is the host's memory, or will be once it is
                                  allocated; 0: none */
    dynsel_word watchers;      /* of the copy to the host; see src/groups/watch.h */
    uint32_t readers[CONFIG_DYNSEL_MAX_READERS]; /* tokens + 1 of the readers since the writer */
    dynsel_buffer_failures failures;
    size_t element_bytes;
    dynsel_range range;
    dynsel_buffer_forecast forecast;
    dynsel_error copy_out_failure; /* the last one */
#if CONFIG_DYNSEL_BUFFER_INSIDE_BYTES > 0
    _Alignas(16) unsigned char inside[CONFIG_DYNSEL_BUFFER_INSIDE_BYTES];
#endif
} dynsel_buffer_record;

extern dynsel_buffer_record dynsel_buffers[CONFIG_DYNSEL_MAX_BUFFERS];

/* The place in the table, from 1 on. */
static inline uint32_t dynsel_buffer_number(const dynsel_buffer_record *record)
{
    return (uint32_t)(record - dynsel_buffers) + 1;
}

/* The copy in a domain other than DYNSEL_HOST_DOMAIN. */
static inline dynsel_copy_record *dynsel_copy_at(dynsel_buffer_record *record, uint32_t domain)
{
    return &record->copies[domain - 1];
}

/* The token of a handle: the place in the table, from 1 on, in the low bits; the generation, never
 * 0, in the high bits. While a buffer is being ended its record has a token with place 0, which no
 * handle has. */
enum { DYNSEL_PLACE_BITS = 11, DYNSEL_PLACES = (1 << DYNSEL_PLACE_BITS) - 1 };

_Static_assert(CONFIG_DYNSEL_MAX_BUFFERS <= DYNSEL_PLACES,
               "a token has no room for so many places");

/* The place in the table, from 0 on, of a handle that has or had a record. */
static inline uint32_t dynsel_buffer_place(dynsel_buffer buffer)
{
    return (buffer.token & DYNSEL_PLACES) - 1;
}

/* Whether the handle with this token leads to the record. */
static inline bool dynsel_buffer_is(const dynsel_buffer_record *record, uint32_t token)
{
    return dynsel_word_load_acquire(&record->token) == token;
}

/* The record of a handle; NULL: the buffer was ended, or this is no handle (see
 * dynsel_buffer_refuse()). Without the lock only if the buffer is known to exist, or the caller
 * does not read the record. */
static inline dynsel_buffer_record *dynsel_buffer_find(dynsel_buffer buffer)
{
    const uint32_t place = dynsel_buffer_place(buffer);
    return DYNSEL_LIKELY(place < CONFIG_DYNSEL_MAX_BUFFERS &&
                         dynsel_buffer_is(&dynsel_buffers[place], buffer.token))
               ? &dynsel_buffers[place]
               : NULL;
}

/* Checks the arguments of a function that makes a buffer, and sets shape->bytes. data: NULL: inside
 * the buffer. */
dynsel_status dynsel_buffer_check_new(const dynsel_buffer *buffer, const void *data,
                                      dynsel_shape *shape);

/* Under the lock: takes a free record, without a token yet; its data are valid on the host. NULL:
 * the table is full (last error set). */
dynsel_buffer_record *dynsel_buffer_take(void *data, const dynsel_shape *shape);

/* Under the lock: makes the record known by its token, which is returned. */
uint32_t dynsel_buffer_publish(dynsel_buffer_record *record);

/* Fails because the handle has no record. function: a static string; subject: the accessor's name,
 * or NULL. */
dynsel_status dynsel_buffer_refuse(const char *function, const char *subject, dynsel_buffer buffer);

/* The constant properties of a buffer. False: it does not exist. Takes the lock. */
bool dynsel_buffer_shape(dynsel_buffer buffer, dynsel_shape *shape);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(): makes all handles stale, and all places and the lock free. */
void dynsel_buffers_forget(void);
#endif

/* Whether the host's memory of the buffer is inside the record. */
static inline bool dynsel_buffer_is_inside(const dynsel_buffer_record *record)
{
#if CONFIG_DYNSEL_BUFFER_INSIDE_BYTES > 0
    return record->data == record->inside;
#else
    (void)record;
    return false;
#endif
}

/* Frees the place of a buffer that was ended. Takes the lock. */
void dynsel_buffer_free(dynsel_buffer_record *record);

/* Makes the handle stale, as if the buffer had been ended. The place stays in use. */
void dynsel_buffer_hide(dynsel_buffer_record *record);

#endif
