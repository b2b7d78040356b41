/* SPDX-License-Identifier: Apache-2.0 */
/** What the policy chooses from: the host, its workers, and the OpenCL devices. */
#ifndef GALLERY_RESOURCES_H
#define GALLERY_RESOURCES_H

#include <dynsel/dynsel.h>

typedef struct resources {
    dynsel_resource table[CONFIG_DYNSEL_MAX_RESOURCES];
    size_t numbers[CONFIG_DYNSEL_MAX_RESOURCES]; /**< of each among all, as --only takes it */
    size_t count;
    const char *note; /**< NULL when nothing is to be said */
} resources;

/** All that are here. False: stderr says why. */
bool resources_find(resources *r);

/** Leaves only the one of this number or name, or the only one that has this in its name. Returns
 * an exit status; stderr says what is wrong. */
int resources_choose(resources *r, const char *only);

/** Gives the workers and devices back. No policy uses them any more. */
bool resources_close(void);

#endif
