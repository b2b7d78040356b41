/* SPDX-License-Identifier: Apache-2.0 */
/* A policy over one resource that learns the times of one in N submissions. */
#ifndef BENCH_SAMPLING_POLICY_H
#define BENCH_SAMPLING_POLICY_H

#include <stdatomic.h>
#include <stddef.h>

#include <dynsel/dynsel.h>

enum { SAMPLING_MOST_VALUES = 1 << 15 };

typedef struct sampling_policy {
    dynsel_policy policy; /* must be first */
    atomic_uint one_in;   /* requests the time of one in so many submissions; 0: of none */
    atomic_uint submissions;
    atomic_uint requests;
    atomic_uint count;                      /* of reported values; only the first are kept */
    atomic_ullong ns[SAMPLING_MOST_VALUES]; /* 0: its report is not complete */
} sampling_policy;

/* policy: zero; used until sampling_deinit(). A failure ends the program. */
void sampling_init(sampling_policy *policy, const dynsel_resource *where);
void sampling_deinit(sampling_policy *policy);

/* Sets the interval for the next submissions; 0: none is timed. Not beside submits. */
void sampling_set_interval(sampling_policy *policy, unsigned one_in);

/* How many times it requested since sampling_clear(). */
unsigned sampling_requests(const sampling_policy *policy);

/* Copies the values reported since sampling_clear() to `ns`, SAMPLING_MOST_VALUES at most; returns
 * how many. */
size_t sampling_values(const sampling_policy *policy, double *ns);
void sampling_clear(sampling_policy *policy);

#endif
