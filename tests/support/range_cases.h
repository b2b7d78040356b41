/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel for each type of iterator: it writes what it reads from a range into a second one.
 * What comes out, and what has to be moved, is said apart, in plain C. */
#ifndef DYNSEL_TESTS_MEMORY_RANGE_CASES_H
#define DYNSEL_TESTS_MEMORY_RANGE_CASES_H

#include "support/range_types.h"

enum { RANGE_ELEMENTS = 24, RANGE_SKIPPED = 5, RANGE_CASES = 16 };

typedef struct range_world {
    int a[RANGE_ELEMENTS];
    int b[RANGE_ELEMENTS];
    int map[RANGE_ELEMENTS]; /* each below RANGE_ELEMENTS */
    int out[RANGE_ELEMENTS];
    struct range_world *reached; /* where what is passed directly stands; NULL: here */
} range_world;

typedef struct range_case {
    const char *name;
    dynsel_kernel kernel;
    size_t count;  /* of the range, and of what is written */
    size_t staged; /* elements that are copied in for a device */
    size_t direct; /* elements that are not */
    dynsel_status (*set)(dynsel_handler *handler, range_world *world, size_t count);
    int (*expected)(const range_world *world, size_t i);
} range_case;

extern const range_case range_cases[RANGE_CASES];

/* What to submit: the case's kernel over `world`. */
typedef struct range_job {
    const range_case *what;
    range_world *world;
} range_job;

/* A dynsel_group_fn; args: a range_job. */
dynsel_status range_record(dynsel_handler *handler, void *args);

/* Other numbers for each seed; `reached` stays. */
void range_fill(range_world *world, uint64_t seed);

/* Whether `out` is what should be there, and the rest as range_fill() made it. */
bool range_is_right(const range_job *job, uint64_t seed);

#endif
