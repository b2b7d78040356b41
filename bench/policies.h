/* SPDX-License-Identifier: Apache-2.0 */
/* The configured policies, to be measured one after the other. */
#ifndef BENCH_POLICIES_H
#define BENCH_POLICIES_H

#include <stddef.h>

#include <dynsel/policy.h>

#include "floor.h"

typedef struct bench_policy {
    const char *name;
    floor_kind floor;
    double over_fixed_ns;  /* the budget: most nanoseconds over a submit to one fixed resource, in
                              one thread; 0: twice the floor */
    dynsel_policy *policy; /* zeroed before `init` */
    /* first: the resource of fixed_resource, the first one of round_robin; others ignore it */
    dynsel_status (*init)(const dynsel_options *options, size_t first);
} bench_policy;

/* Ends with an entry without a name. */
extern const bench_policy bench_policies[];

#endif
