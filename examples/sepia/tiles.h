/* SPDX-License-Identifier: Apache-2.0 */
/** Cutting the picture into the job's table of tiles. */
#ifndef SEPIA_TILES_H
#define SEPIA_TILES_H

#include <stdbool.h>

#include "sepia.h"

/**
 * Fills in the tiles of a job whose picture is set; those at the right and lower edge are smaller.
 *
 * width, height: of a tile; 0: SEPIA_TILE, or as much more as the table of tiles needs.
 * name: of the picture, for the message when there are more tiles than the table holds.
 */
bool tiles_cut(sepia_job *job, uint32_t width, uint32_t height, const char *name);

/** Makes all tiles wait again. */
void tiles_reset(sepia_job *job);

/** The tile with this pixel in it. */
const sepia_tile *tiles_at(const sepia_job *job, uint32_t x, uint32_t y);

#endif
