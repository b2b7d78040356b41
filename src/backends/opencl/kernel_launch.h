/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels for command groups: arguments, work-groups, the enqueue. Wait lists of all
 * commands. */
#ifndef DYNSEL_BACKENDS_OPENCL_KERNEL_LAUNCH_H
#define DYNSEL_BACKENDS_OPENCL_KERNEL_LAUNCH_H

#include <dynsel/memory.h>

#include "backends/opencl/device_table.h"

enum {
    /* The dependencies of a command, and its copies in. */
    DYNSEL_OPENCL_WAIT_LIST = DYNSEL_MOST_AFTER
};

typedef struct dynsel_opencl_wait_list {
    cl_uint count;
    const cl_event *events; /* NULL if the count is 0: OpenCL requires it */
    cl_event all[DYNSEL_OPENCL_WAIT_LIST];
} dynsel_opencl_wait_list;

/* Launches a kernel; builds it first if needed. */
dynsel_status dynsel_opencl_launch(dynsel_opencl_entry *entry, const dynsel_command *command,
                                   const dynsel_opencl_wait_list *list, cl_event *done);

#endif
