/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of command groups on a device, and what they come after. */
#ifndef DYNSEL_BACKENDS_OPENCL_COMMANDS_H
#define DYNSEL_BACKENDS_OPENCL_COMMANDS_H

#include <dynsel/memory.h>

#include "backends/opencl/table.h"

enum {
    /* The work that a command comes after, and its copies in. */
    DYNSEL_OPENCL_WAIT_LIST = DYNSEL_MOST_AFTER
};

typedef struct dynsel_opencl_wait_list {
    cl_uint count;
    const cl_event *events; /* NULL where there are none, as OpenCL wants it */
    cl_event all[DYNSEL_OPENCL_WAIT_LIST];
} dynsel_opencl_wait_list;

/* The commands that are not kernels. */
dynsel_status dynsel_opencl_copy(dynsel_opencl_entry *entry, const dynsel_command *command,
                                 const dynsel_opencl_wait_list *list, cl_event *done);
dynsel_status dynsel_opencl_fill(dynsel_opencl_entry *entry, const dynsel_command *command,
                                 const dynsel_opencl_wait_list *list, cl_event *done);

/* A kernel, which is built if it was not yet. */
dynsel_status dynsel_opencl_launch(dynsel_opencl_entry *entry, const dynsel_command *command,
                                   const dynsel_opencl_wait_list *list, cl_event *done);

#endif
