/* SPDX-License-Identifier: Apache-2.0 */
/** Iterates over the aspects of a set. */
#ifndef ASPECTS_H
#define ASPECTS_H

#include "info.h"

/**
 * Takes the first aspect out of a set, and gives its name; NULL, and the set is empty, when no
 * aspect of this configuration is in it.
 */
const char *aspects_next(dynsel_aspect_set *rest);

/** Aspects of the device that no target of this build may have, so that programs do not see them.
 */
dynsel_aspect_set aspects_hidden(const dynsel_device *device);

#endif
