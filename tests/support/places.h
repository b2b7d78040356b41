/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated devices and the host, each with a policy that always chooses it, and small command
 * groups to send there: what is moved is counted by the byte.
 */
#ifndef DYNSEL_TESTS_MEMORY_PLACES_H
#define DYNSEL_TESTS_MEMORY_PLACES_H

#include <dynsel/dynsel.h>

#include "fakes/simulated_memory.h"
#include "test.h"

enum { HOST = SIMULATED_DEVICES, PLACES, ELEMENTS = 32, BYTES = ELEMENTS * 4 };

typedef enum job_kind {
    ADD,   /* first buffer: each element plus `value` */
    SET,   /* first buffer: `value`, `value` + 1, ... */
    COPY,  /* from the second buffer to the first */
    TOTAL, /* the first element of the first buffer: all of the second together; the rest stays */
    FAIL   /* ends with `value` as its status, having changed nothing */
} job_kind;

/* A command group: a kernel over its buffers in this order. */
typedef struct job {
    job_kind kind;
    int32_t value;
    dynsel_buffer buffers[3];
    dynsel_access_mode modes[3];
    size_t parts[3];             /* accessed elements, from the beginning; 0: all */
    dynsel_access_target target; /* of the last buffer */
    uint32_t id;                 /* what kind of work policies take it for; 0: told by its kernel */
    bool repeatable;
} job;

extern simulated_backend sim;
extern dynsel_fixed_resource_policy places[PLACES];

/* New devices, as of simulated_reset(), and policies; to be changed before the first job. */
void places_begin(bool waits_deliver);

/* Devices work at once from here on. */
void places_hurry(void);

/* Ends the policies. All buffers were ended, and no device has anything of theirs. */
void places_end(void);

/* What the library keeps of each buffer makes sense, whatever happened; nothing must be under
 * way. */
void places_check(void);

/* The device was given another domain or order, which it tells only once in a policy's life. */
void place_is_another(unsigned place);

/* Submits it, and waits or not. */
dynsel_status run_job(unsigned place, const job *what);
dynsel_status run_job_with(dynsel_policy *policy, const job *what);
dynsel_status send_job(unsigned place, const job *what, dynsel_submission *submission);
dynsel_status send_job_with(dynsel_policy *policy, const job *what, dynsel_submission *submission);

/* A buffer of ELEMENTS elements. */
dynsel_buffer new_buffer(int32_t *data);

/* Ends it, and compares each element with first, first + step, ... */
void end_buffer(dynsel_buffer *buffer, const int32_t *data, int32_t first, int32_t step);

/* Reads all through a host accessor, and compares likewise. */
void see_buffer(dynsel_buffer buffer, int32_t first, int32_t step);

/* Writes all through a host accessor: first, first + step, ... */
void write_buffer(dynsel_buffer buffer, int32_t first, int32_t step);

/* What was moved for a buffer, in whole buffers, is exactly this. */
#define assert_moved(buffer, in, out, avoided)                                                     \
    check_moved((buffer), (in), (out), (avoided), __FILE__, __LINE__)

void check_moved(dynsel_buffer buffer, unsigned in, unsigned out, unsigned avoided,
                 const char *file, int line);

/* Short ways of writing jobs. */
static inline job add_to(dynsel_buffer buffer, int32_t value)
{
    return (job){.kind = ADD, .value = value, .buffers = {buffer}};
}

static inline job set_all(dynsel_buffer buffer, int32_t value)
{
    return (job){
        .kind = SET, .value = value, .buffers = {buffer}, .modes = {DYNSEL_ACCESS_DISCARD_WRITE}};
}

static inline job copy_to(dynsel_buffer to, dynsel_buffer from)
{
    return (job){.kind = COPY,
                 .buffers = {to, from},
                 .modes = {DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_ACCESS_READ}};
}

static inline job total_of(dynsel_buffer from, dynsel_buffer to)
{
    return (job){
        .kind = TOTAL, .buffers = {to, from}, .modes = {DYNSEL_ACCESS_WRITE, DYNSEL_ACCESS_READ}};
}

#endif
