/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that submits, waits, releases and gives up in random order. */
#ifndef SOAK_SUBMITTER_H
#define SOAK_SUBMITTER_H

#include <stdatomic.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "work.h"

enum { SOAK_POLICIES = 5, SOAK_HELD = 4 };

/* Work that this thread has not collected yet. */
typedef struct soak_held {
    dynsel_submission submission;
    soak_kind kind;
    int is_there;
} soak_held;

typedef struct soak_submitter {
    uint64_t seed;
    uint64_t wanted;        /* submissions */
    atomic_ullong accepted; /* so far; others may look */
    uint64_t accepted_by[SOAK_POLICIES];
    uint64_t refused; /* try_submit that found nothing free, submit_for that took too long */
    uint64_t waited;
    uint64_t released;
    uint64_t groups;
    soak_held held[SOAK_HELD];
} soak_submitter;

/* For pthread_create(); `context` is a soak_submitter. */
void *soak_submit(void *context);

#endif
