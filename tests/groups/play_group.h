/* SPDX-License-Identifier: Apache-2.0 */
/* The group function of the commands of random programs. */
#ifndef DYNSEL_TESTS_MEMORY_PLAY_GROUP_H
#define DYNSEL_TESTS_MEMORY_PLAY_GROUP_H

#include <dynsel/dynsel.h>

#include "groups/program.h"

extern program_shapes play_shapes;
extern dynsel_buffer play_buffers[PROGRAM_BUFFERS];

typedef struct play_job {
    const program_command *command;
    unsigned index;
    const dynsel_submission *behind;         /* what it depends on by name; NULL: nothing */
    const unsigned char *source;             /* of a KIND_IN */
    dynsel_accessor accessors[PROGRAM_USES]; /* placeholders and normal ones */
    dynsel_accessor others[PROGRAM_USES];    /* what else a binding needs */
} play_job;

/* Where a KIND_OUT copies to: as many bytes as fit into the largest buffer, and PLAY_MARGIN. */
enum { PLAY_MARGIN = 16 };
unsigned char *play_memory(const program_command *command, unsigned index);

/* args: a play_job. */
dynsel_status play_record(dynsel_handler *handler, void *args);

#endif
