/* SPDX-License-Identifier: Apache-2.0 */
/* The resources: the host, its workers, OpenCL devices. */
#ifndef USECASES_RESOURCES_H
#define USECASES_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/dynsel.h>

#include "options.h"

enum { RESOURCES_MOST = CONFIG_DYNSEL_MAX_RESOURCES };

typedef struct resources {
    dynsel_resource table[RESOURCES_MOST];
    char names[RESOURCES_MOST][80]; /* all different */
    size_t count;
    size_t first_device; /* OpenCL's begin here */
} resources;

/* host: whether the calling thread is the first one. Fewer than `least` resources end the program.
 * Begins the trace, if one is wanted. */
void resources_find(resources *r, const usecase_options *options, bool host, size_t least);

/* Initializes a policy for each resource, which places all work on it, and builds the kernels for
 * all resources. */
void resources_prepare(const resources *r, dynsel_fixed_resource_policy *fixed,
                       const dynsel_kernel *const *kernels, size_t count);

/* Releases all, and writes the trace; no policy may use them. */
void resources_close(void);

#endif
