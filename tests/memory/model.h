/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of random programs: does one command after the other, in plain memory, and knows
 * what comes before what, and which commands have to fail because of others.
 */
#ifndef DYNSEL_TESTS_MEMORY_MODEL_H
#define DYNSEL_TESTS_MEMORY_MODEL_H

#include <dynsel/status.h>

#include "memory/program.h"

typedef struct model_buffer {
    unsigned char data[PROGRAM_BYTES];
    uint64_t causes; /* of the loss of its contents: commands that failed, as bits; 0: it is well */
    uint64_t writer; /* the last that writes it, as a bit, */
    uint64_t readers; /* and those that read it since */
} model_buffer;

typedef struct model {
    model_buffer buffers[PROGRAM_BUFFERS];
    uint64_t before[PROGRAM_COMMANDS]; /* all that a command comes after, at first or second hand */
} model;

/* How a command has to end. */
typedef struct model_outcome {
    dynsel_status status; /* OK, what BROKEN returns, or DYNSEL_E_DEPENDENCY */
    uint64_t causes;      /* then: one of these commands is the first cause */
} model_outcome;

/* A new program begins with the data that are there. */
void model_begin(model *m);

/* All that command i comes after; nothing is changed. */
uint64_t model_before(const model *m, const program *p, unsigned i);

/* What will become of command i; nothing is changed. */
model_outcome model_foresee(const model *m, const program *p, const program_shapes *shapes,
                            unsigned i);

/* Enters command i into the order and does what it does. failed: it fails for a reason of the
 * test's own, whatever was foreseen. */
void model_run(model *m, const program *p, const program_shapes *shapes, unsigned i, bool failed);

/* What a host accessor that writes does to the data: bytes are enough. */
void access_write(unsigned char *data, size_t bytes, const program_command *c);

#endif
