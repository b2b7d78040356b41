/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to choose from: the host, its workers, OpenCL devices. */
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

/* host: whether the caller itself is the first of them. Fewer than `least` end the program. */
void resources_find(resources *r, const usecase_options *options, bool host, size_t least);

/* Gives everything back; no policy uses it any more. */
void resources_close(void);

#endif
