/* SPDX-License-Identifier: Apache-2.0 */
/* What the backend does with memory, for command groups. */
#ifndef DYNSEL_BACKENDS_OPENCL_MEMORY_H
#define DYNSEL_BACKENDS_OPENCL_MEMORY_H

#include <dynsel/memory.h>

#include "backends/opencl/table.h"

enum {
    /* Work that a command comes after, and what was brought for it. */
    DYNSEL_OPENCL_WAIT_LIST = DYNSEL_MOST_AFTER
};

typedef struct dynsel_opencl_wait_list {
    cl_uint count;
    const cl_event *events; /* NULL where there are none, as OpenCL wants it */
    cl_event all[DYNSEL_OPENCL_WAIT_LIST];
} dynsel_opencl_wait_list;

/* For a command on this device. DYNSEL_E_FULL when there are more than fit; DYNSEL_E_DEPENDENCY
 * when one of them had to be waited for, and failed. */
dynsel_status dynsel_opencl_list_events(dynsel_opencl_entry *entry, dynsel_opencl_wait_list *list,
                                        const dynsel_event *after, size_t count);

/* The commands that are not kernels. */
dynsel_status dynsel_opencl_copy(dynsel_opencl_entry *entry, const dynsel_command *command,
                                 const dynsel_opencl_wait_list *list, cl_event *done);
dynsel_status dynsel_opencl_fill(dynsel_opencl_entry *entry, const dynsel_command *command,
                                 const dynsel_opencl_wait_list *list, cl_event *done);

/* A kernel, which is built if it was not yet. */
dynsel_status dynsel_opencl_launch(dynsel_opencl_entry *entry, const dynsel_command *command,
                                   const dynsel_opencl_wait_list *list, cl_event *done);

/* How often memory was given back: arguments of kernels that were set before may be gone, and
 * something else in their place. */
extern dynsel_word dynsel_opencl_releases;

/* How many copies of buffers there are, on all devices. */
uint32_t dynsel_opencl_count_copies(void);

/* Under the backend's lock, when nobody uses them and there are no copies: forgets all kernels, and
 * the store for them. */
void dynsel_opencl_end_memory(void);

extern const dynsel_memory_ops dynsel_opencl_memory;

#endif
