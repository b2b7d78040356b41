/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of random programs: does one command after the other, in plain memory, and knows
 * what comes before what, and which commands have to fail because of others.
 */
#ifndef DYNSEL_TESTS_MEMORY_MODEL_H
#define DYNSEL_TESTS_MEMORY_MODEL_H

#include <dynsel/status.h>

#include "groups/program.h"

typedef struct model_buffer {
    unsigned char data[PROGRAM_BYTES];
    uint64_t causes; /* of the loss of its contents: commands that failed, as bits; 0: it is well */
    /* Commands that were to write it and did not begin, as bits, and the first causes of that.
     * Until they are known to be over, who reads it may have been entered behind them, and fail;
     * else it has the contents from before. */
    uint64_t doubts;
    uint64_t doubt_causes;
    uint64_t writer;  /* the last that writes it, as a bit, */
    uint64_t readers; /* and those that read it since */
} model_buffer;

/* How a command has to end. */
typedef struct model_outcome {
    dynsel_status status; /* OK, what BROKEN or REFUSED returns, or DYNSEL_E_DEPENDENCY */
    bool in_doubt;        /* it may be DYNSEL_E_DEPENDENCY all the same */
    uint64_t causes;      /* then: one of these commands is the first cause */
} model_outcome;

typedef struct model {
    model_buffer buffers[PROGRAM_BUFFERS];
    uint64_t before[PROGRAM_COMMANDS]; /* all that a command comes after, at first or second hand */
    uint64_t surely[PROGRAM_COMMANDS]; /* of these, those whose end it has to wait for */
    uint64_t behind[PROGRAM_COMMANDS]; /* of these, what it names, as a bit */
    uint64_t failed[PROGRAM_COMMANDS]; /* the causes of its failure; 0: it does not fail */
    unsigned char out[PROGRAM_OUTS][PROGRAM_BYTES]; /* what a KIND_OUT copies */
} model;

/* A new program begins with the data that are there. */
void model_begin(model *m);

/* All that command i comes after; nothing is changed. */
uint64_t model_before(const model *m, const program *p, unsigned i);

/* Of these, those whose end it has to wait for: what fails and writes nothing may end before what
 * it comes after. */
uint64_t model_surely_before(const model *m, const program *p, unsigned i);

/* What will become of command i; nothing is changed. */
model_outcome model_foresee(const model *m, const program *p, const program_shapes *shapes,
                            unsigned i);

/* The KIND_OUT behind which a KIND_IN is, by name, and whose memory it copies; else
 * PROGRAM_COMMANDS: that of program_memory(). */
unsigned model_source(const model *m, const program *p, const program_shapes *shapes, unsigned i);

/* Enters command i into the order and does what it does, as foreseen: nothing, where it has to fail
 * because of others. What is in doubt turns out well. */
void model_run(model *m, const program *p, const program_shapes *shapes, unsigned i);

/* The same of a command that is known not to have begun, because of these commands. */
void model_pass_over(model *m, const program *p, unsigned i, uint64_t causes);

/* Whether the old contents of the buffer are needed, by this use. */
bool use_reads(const program_use *use, const program_shape *shape);

/* What a command was to write first, which does not begin. */
bool model_writes(const program_command *c, unsigned buffer);

/* What a host accessor that writes does to the data: bytes are enough. */
void access_write(unsigned char *data, size_t bytes, const program_command *c);

#endif
