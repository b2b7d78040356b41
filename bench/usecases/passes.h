/* SPDX-License-Identifier: Apache-2.0 */
/* Times the same passes over the same data with every policy: a pass of each before the next one,
 * so that other load and a machine that slows down affect all of them. */
#ifndef USECASES_PASSES_H
#define USECASES_PASSES_H

#include <stdint.h>

#include "resources.h"

typedef struct passes_work {
    void (*before)(void *context); /* not timed; may be NULL */
    /* One pass. A failure ends the program. */
    void (*run)(dynsel_policy *policy, void *context);
    void (*after)(const char *policy, void *context); /* not timed: checks */
    void *context;
    const char *name; /* of the work, for the CSV file */
    const char *unit; /* of `units`: "Mpixel" */
    double units;     /* in one pass */
    double oracle_ns; /* one pass of a schedule made afterwards (schedule.h); 0: none */
} passes_work;

/* The options --only and --learned, for the table of a program: which policies and fixed resources
 * take part, and the file that keeps what earliest_finish learns. */
extern const char *passes_only;
extern const char *passes_learned;
#define PASSES_OPTIONS                                                                             \
    {"--only",                                                                                     \
     "WORDS",                                                                                      \
     "policies and resources with one of these in their names: \"GPU,finish\"",                    \
     NULL,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     &passes_only},                                                                                \
    {                                                                                              \
        "--learned", "FILE",                                                                       \
            "earliest_finish begins with what an earlier run learned, and keeps what it learns",   \
            NULL, 0, 0, &passes_learned                                                            \
    }

/* Prints a table, and how many pieces each policy gave to each resource, and adds rows to the CSV
 * file. The best single resource, whose share is given for the first passes, with all that a policy
 * tries, and for later ones, is that with the least time for all passes. */
void passes_measure(const passes_work *work, const resources *r, uint32_t passes);

#endif
