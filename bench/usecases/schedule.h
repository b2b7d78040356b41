/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule made afterwards, with all times known, that policies are compared with. The pieces of
 * work are recorded in the order in which they are submitted, each with its kind and the buffers
 * that it reads and writes; dependencies follow from these as in the library. The list scheduling
 * is that of HEFT: the pieces by their upward rank, each where it ends first, in a gap of the
 * resource's time if one is long enough. Copies take their time on the link between two memories,
 * one copy at a time on each link. Data begin in the host's memory, and results end there.
 *
 * Resources that compute on processors of the host take these, so many at a time: one that computes
 * on several can run a piece on fewer, for longer.
 *
 * It is no bound: another order can be better. Where a single resource for all pieces would be
 * faster, that is the schedule. Times are those of a resource that works alone: resources that
 * share memory are slower together.
 */
#ifndef USECASES_SCHEDULE_H
#define USECASES_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/config.h>

enum {
    SCHEDULE_MOST_USES = 8,
    SCHEDULE_MOST_KINDS = 96,
    SCHEDULE_MOST_RESOURCES = CONFIG_DYNSEL_MAX_RESOURCES,
    SCHEDULE_MOST_DOMAINS = 17,
    SCHEDULE_MOST_PROCESSORS = 256,
    SCHEDULE_HOST = 0 /* the domain of the host's memory */
};

typedef enum schedule_status {
    SCHEDULE_OK,
    SCHEDULE_FULL,     /* more pieces than there is room for, or more uses */
    SCHEDULE_INVALID,  /* a kind, buffer, resource or domain that does not exist */
    SCHEDULE_NO_MEMORY /* of the host */
} schedule_status;

typedef struct schedule_use {
    uint32_t buffer;
    bool reads;
    bool writes;
} schedule_use;

typedef struct schedule_piece {
    uint32_t kind;
    uint32_t use_count;
    schedule_use uses[SCHEDULE_MOST_USES]; /* of different buffers */
} schedule_piece;

typedef struct schedule_buffer {
    double bytes;   /* 0: nothing is copied, it only orders */
    bool is_result; /* must be in the host's memory at the end */
} schedule_buffer;

/* A copy takes latency_ns + bytes / bytes_per_ns. */
typedef struct schedule_link {
    double latency_ns;
    double bytes_per_ns;
} schedule_link;

typedef struct schedule_machine {
    size_t resource_count;
    size_t domain_count;
    size_t kind_count;
    uint32_t domain_of[SCHEDULE_MOST_RESOURCES];
    schedule_link links[SCHEDULE_MOST_DOMAINS][SCHEDULE_MOST_DOMAINS]; /* [from][to] */
    /* Of one piece whose data are resident; INFINITY: cannot run there. */
    double ns[SCHEDULE_MOST_KINDS][SCHEDULE_MOST_RESOURCES];
    double submit_ns;       /* piece i (from 0) cannot begin before i times this */
    size_t processor_count; /* of the host */
    uint32_t processors[SCHEDULE_MOST_RESOURCES]; /* that it computes on; 0: it shares none */
} schedule_machine;

/* Set by schedule_open(). */
typedef struct schedule {
    schedule_piece *pieces;
    size_t piece_count;
    size_t most_pieces;
    schedule_buffer *buffers; /* the caller sets them; zero before */
    size_t buffer_count;
} schedule;

typedef struct schedule_plan {
    double makespan_ns; /* until the last result is in the host's memory */
    double copied_bytes;
    uint32_t pieces_on[SCHEDULE_MOST_RESOURCES];
} schedule_plan;

/* Errors: SCHEDULE_NO_MEMORY. schedule_close() also after an error. */
schedule_status schedule_open(schedule *s, size_t most_pieces, size_t buffer_count);

/* Records the next piece. Errors: SCHEDULE_FULL, SCHEDULE_INVALID (a buffer). */
schedule_status schedule_add(schedule *s, const schedule_piece *piece);

/* Errors: SCHEDULE_INVALID (also a kind that no resource can run, or a resource on more processors
 * than there are), SCHEDULE_NO_MEMORY. */
schedule_status schedule_make(const schedule *s, const schedule_machine *m, schedule_plan *plan);

void schedule_close(schedule *s);

#endif
