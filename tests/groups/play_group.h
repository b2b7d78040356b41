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
    dynsel_accessor accessors[PROGRAM_USES]; /* placeholders and normal ones */
    dynsel_accessor others[PROGRAM_USES];    /* what else a binding needs */
} play_job;

/* args: a play_job. */
dynsel_status play_record(dynsel_handler *handler, void *args);

#endif
