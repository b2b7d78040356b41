/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of work, their data, and one run of one of them: from the host's memory to the host's
 * memory, with every result checked. One run at a time. */
#ifndef USECASES_WORK_H
#define USECASES_WORK_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "mix_kind.h"
#include "resources.h"

enum { WORK_MOST_KINDS = 96, WORK_MOST_SIZES = 12 };

typedef struct work_run {
    uint32_t resource;
    dynsel_reason reason;
    uint64_t ns; /* from the submit until the result is in host memory */
} work_run;

/* Makes data of these sizes (powers of two, ascending), from the seed. */
void work_open(const uint32_t *elements, size_t count, uint64_t seed);

/* A kind of work on the data of one size; computes the expected results. */
mix_kind work_kind_of(uint32_t kernel, uint32_t size, uint32_t operations);

/* Builds all kernels for all resources. */
void work_prepare(const resources *r);

/* Submits to the policy and waits. r: for names. A failure or a wrong result ends the program. */
work_run work_place(dynsel_policy *policy, const mix_kind *kind, const resources *r);

/* The same, where `policy` only selects and gets the time of the whole run as a report, including
 * the copy of the results and the program's wait. */
work_run work_place_and_tell(dynsel_policy *policy, const mix_kind *kind, const resources *r);

/* On the resource with this index, with a fixed_resource policy. */
work_run work_place_on(uint32_t index, const mix_kind *kind, const resources *r);

/* Frees everything; no policy may have work in flight. */
void work_close(mix_kind *kinds, size_t count);

#endif
