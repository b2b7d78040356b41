/* SPDX-License-Identifier: Apache-2.0 */
/** The work as a C function. */
#ifndef SEPIA_HOST_H
#define SEPIA_HOST_H

#include "sepia.h"

/** The form of the task for the inline backend; args: a sepia_tile. */
dynsel_status host_form(const dynsel_resource *where, void *args, dynsel_event *done);

/** Tones a tile in the calling thread. Returns the time it took. */
uint64_t host_tone(const sepia_tile *tile);

#endif
