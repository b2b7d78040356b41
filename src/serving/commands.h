/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups on the resources of this rank: launches of kernels, and what all command groups
 * have in common. */
#ifndef DYNSEL_SERVING_COMMANDS_H
#define DYNSEL_SERVING_COMMANDS_H

#include <dynsel/command_group.h>

#include "serving/order.h"
#include "serving/reader.h"

/* A use of a copy. */
typedef struct dynsel_served_copy_use {
    uint32_t copy;
    bool writes;
} dynsel_served_copy_use;

/* The common part of the command groups of this room; one exists at a time. */
typedef struct dynsel_served_group {
    const dynsel_mpi_header *header;
    dynsel_served_order order;
    uint32_t use_count;
    dynsel_served_copy_use uses[CONFIG_DYNSEL_MAX_ARGUMENTS + 2];
} dynsel_served_group;

/* Fails with DYNSEL_E_INVALID. */
dynsel_status dynsel_served_group_refuse(const char *detail, uint32_t number);

/* Begins a group without uses. Fails where this rank has no such resource. */
dynsel_status dynsel_served_group_begin(dynsel_served_group *group,
                                        const dynsel_mpi_header *header);

/* Adds the use of a copy, and has its buffer: as dynsel_served_copy_get(). */
dynsel_status dynsel_served_group_use(dynsel_served_group *group, const dynsel_mpi_place *place,
                                      bool writes, dynsel_buffer *buffer);

/* When all uses are known: reads what it comes behind, which is all that is left of the message. */
dynsel_status dynsel_served_group_order(dynsel_served_group *group, dynsel_served_reader rest);

/* For group functions: what it depends on. */
dynsel_status dynsel_served_group_depend(const dynsel_served_group *group, dynsel_handler *handler);

/* Submits it. DYNSEL_E_AGAIN: not now. */
dynsel_status dynsel_served_group_submit(const dynsel_served_group *group, dynsel_group_fn function,
                                         void *args);

/* The messages of these kinds. DYNSEL_E_AGAIN: not now. Any other failure is to be answered. */
dynsel_status dynsel_serving_launch(const dynsel_mpi_header *header, dynsel_served_reader body);
dynsel_status dynsel_serving_prepare(const dynsel_mpi_header *header, dynsel_served_reader body);

/* Begins and ends with the buffer that stands for empty data. */
void dynsel_serving_reset_commands(void);
void dynsel_serving_end_commands(void);

#endif
