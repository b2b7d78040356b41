/* SPDX-License-Identifier: Apache-2.0 */
/* The times in which a resource, or a link between two memories, is taken. */
#ifndef USECASES_TIMELINE_H
#define USECASES_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct timeline_span {
    double begin_ns;
    double end_ns;
} timeline_span;

/* All zero: free at all times. */
typedef struct timeline {
    timeline_span *spans; /* ascending; they do not overlap */
    size_t count;
    size_t room;
} timeline;

/* The first time from `ready_ns` on at which it is free for so long. */
double timeline_fit(const timeline *t, double ready_ns, double takes_ns);

/* Takes a time that timeline_fit() has found. False: the host has no memory. */
bool timeline_take(timeline *t, double begin_ns, double end_ns);

void timeline_free(timeline *t);

#endif
