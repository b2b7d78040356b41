/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of work, the device that gets into trouble with them, and what is measured. */
#ifndef USECASES_TROUBLE_DEVICE_H
#define USECASES_TROUBLE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

enum { TIMELINE_BINS = 64 };

typedef enum trouble_kind { SLOW, FAILING, GONE, HANGING, TROUBLES } trouble_kind;

extern const char *const trouble_names[TROUBLES];

typedef struct trouble_settings {
    uint64_t pieces;
    uint64_t task_us;
    uint64_t limit_us; /* 0: 10 times task_us, at least 5 ms */
    uint64_t times_slower;
    uint64_t others_slower;
} trouble_settings;

extern trouble_settings trouble;

/* The memory of one piece of work. A device that hangs may still write it. */
typedef struct job {
    uint32_t number; /* of the piece; 0: none */
    uint32_t result;
} job;

/* Completed pieces over time. The bins become twice as wide when the time exceeds them. */
typedef struct timeline {
    uint64_t width_ns;
    uint32_t done[TIMELINE_BINS];
} timeline;

typedef struct outcome {
    uint64_t began_ns;   /* the play */
    uint64_t first_ns;   /* when the trouble began */
    uint64_t ended_ns;   /* when it ended; 0: not */
    uint64_t last_ns;    /* when work was last sent there, before pieces that were not */
    uint64_t back_ns;    /* when work was first sent there after the end; 0: not */
    uint64_t longest_ns; /* of a piece, with all tries */
    uint32_t elsewhere;  /* in a row */
    uint32_t sent;       /* there, since the trouble began, until it had moved away */
    uint32_t later;      /* there, after that: other tries */
    uint32_t failed;     /* tries that were accepted, and whose failure was told */
    uint32_t given_up;   /* of these */
    uint32_t wrongly_done;
    uint32_t refused; /* submits in a row */
    uint32_t done;
    double seconds;
    bool moved;
    timeline over_time;
} outcome;

/* Finds how much work takes task_us. */
void device_calibrate(uint64_t seed);

void device_set(trouble_kind kind); /* TROUBLES: the device works */
trouble_kind device_get(void);

/* Does the work; hit: on the device that gets into trouble. False: it has failed. */
bool device_run(bool hit, job *j);

/* Writes a wrong result, so that work that is not done shows. */
void job_prepare(job *j, uint32_t number);

/* Counts a piece that was said to be done. since_ns: when it was first tried. */
void outcome_count(outcome *o, const job *j, uint64_t since_ns);

/* Begins and ends the trouble by the pieces that are done. */
void outcome_advance(outcome *o, trouble_kind kind);

#endif
