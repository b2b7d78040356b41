/* SPDX-License-Identifier: Apache-2.0 */
/* The times in which the processors of the host are taken. */
#ifndef USECASES_PROCESSORS_H
#define USECASES_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule.h"
#include "timeline.h"

typedef struct processors {
    size_t count;
    timeline all[SCHEDULE_MOST_PROCESSORS];
} processors;

/* All are free at all times from now on. */
void processors_clear(processors *p, size_t count);

/* The first time from `ready_ns` on at which a resource and so many of the processors are free for
 * so long. wanted: `count` at most. */
double processors_fit(const processors *p, const timeline *resource, size_t wanted, double ready_ns,
                      double takes_ns);

/* Takes so many at a time that processors_fit() has found. False: the host has no memory. */
bool processors_take(processors *p, size_t wanted, double begin_ns, double end_ns);

void processors_free(processors *p);

#endif
