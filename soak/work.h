/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of work: what they do, and what is counted on the way. */
#ifndef SOAK_WORK_H
#define SOAK_WORK_H

#include <stdatomic.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

typedef enum soak_kind {
    SOAK_SUCCEEDS,
    SOAK_FAILS_BEFORE, /* the task function gives up */
    SOAK_FAILS_AFTER,  /* it does the work, and then says that it failed */
    SOAK_KINDS
} soak_kind;

extern atomic_ullong soak_started;      /* task functions that were called */
extern atomic_ullong soak_enqueued;     /* of those, that gave a device something to do */
extern atomic_ullong soak_done_at_once; /* of those, that did not */

/* Every resource of the soak: the host several times, workers, OpenCL devices. */
size_t soak_make_resources(dynsel_resource *resources, size_t capacity);

/* Lives as long as the program. */
const dynsel_task *soak_task(soak_kind kind);

/* What such work has to end with. */
dynsel_status soak_end_of(soak_kind kind);

#endif
