/* SPDX-License-Identifier: Apache-2.0 */
/** What the policy chooses from: the host and the OpenCL devices that --device asks for. */
#ifndef SEPIA_RESOURCES_H
#define SEPIA_RESOURCES_H

#include <stddef.h>

#include <dynsel/dynsel.h>

#include "options.h"

typedef struct resources {
    dynsel_resource table[CONFIG_DYNSEL_MAX_RESOURCES];
    size_t count;
    const char *note; /**< why the host is alone; NULL when nothing is to be said */
} resources;

/** Returns an exit status; stderr says what is wrong. */
int resources_choose(resources *r, const options *o);

/** Prints every device with index or reason. Returns an exit status. */
int resources_list(const options *o);

/** Gives the devices back. */
bool resources_close(void);

#endif
