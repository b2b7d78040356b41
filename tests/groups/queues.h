/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues in the host's memory, each with a policy that always chooses it: a command group runs as
 * soon as it is started, and ends when the test says so.
 */
#ifndef DYNSEL_TESTS_MEMORY_QUEUES_H
#define DYNSEL_TESTS_MEMORY_QUEUES_H

#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "test.h"

enum { QUEUES = MANUAL_QUEUES, JOB_BUFFERS = 4 };

/* A command group whose kernel works its number into each buffer that it writes. Lives until it is
 * complete. */
typedef struct job {
    uint32_t number; /* not 0 */
    dynsel_buffer buffers[JOB_BUFFERS];
    dynsel_access_mode modes[JOB_BUFFERS];
    dynsel_status returns;                     /* the kernel */
    uint64_t limit_ns;                         /* with CONFIG_DYNSEL_TIME_LIMITS */
    dynsel_status (*does)(struct job *what);   /* in the kernel; NULL: nothing more */
    dynsel_status (*groups)(struct job *what); /* in the group function, at last; NULL: likewise */
    /* Out. */
    atomic_uint runs;
    uint32_t turn;  /* of all that ran, from 1 on */
    uint32_t seen;  /* the first element of the first buffer, before it was written */
    unsigned event; /* of the manual backend */
} job;

extern manual_backend manual;
extern dynsel_fixed_resource_policy queues[QUEUES];

/* in_order: work on one queue runs in the order in which it was started. */
void queues_begin(bool in_order);

/* Waits for the work of all queues; each piece must succeed. */
void queues_wait(void);

/* Nothing is left of what was done. */
void queues_end(void);

/* A buffer of one element, and its value. */
dynsel_buffer new_number(uint32_t *number);

/* What becomes of a number in a buffer that a job writes. */
uint32_t worked_in(uint32_t before, uint32_t number);

/* The group function of a job. */
dynsel_status group_of(dynsel_handler *handler, void *args);

/* Submits a job. submission: may be NULL. */
void send(unsigned queue, job *what, dynsel_submission *submission);

/* Its device is done with it; the library has not looked yet. */
void complete(const job *what);
void break_off(const job *what);

#define assert_runs(times, what) assert_int_equal((times), atomic_load(&(what)->runs))

/* Short ways of writing jobs. */
#define READS(number_, buffer_)                                                                    \
    {                                                                                              \
        .number = (number_), .buffers = {(buffer_)}, .modes = { DYNSEL_ACCESS_READ }               \
    }
#define CHANGES(number_, buffer_)                                                                  \
    {                                                                                              \
        .number = (number_), .buffers = {(buffer_)}, .modes = { DYNSEL_ACCESS_READ_WRITE }         \
    }
#define SETS(number_, buffer_)                                                                     \
    {                                                                                              \
        .number = (number_), .buffers = {(buffer_)}, .modes = { DYNSEL_ACCESS_DISCARD_WRITE }      \
    }
#define COPIES(number_, from, to)                                                                  \
    {                                                                                              \
        .number = (number_), .buffers = {(from), (to)}, .modes = {                                 \
            DYNSEL_ACCESS_READ,                                                                    \
            DYNSEL_ACCESS_DISCARD_WRITE                                                            \
        }                                                                                          \
    }

#endif
