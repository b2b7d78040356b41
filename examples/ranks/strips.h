/* SPDX-License-Identifier: Apache-2.0 */
/** The work: a command group for each strip of the picture, several in flight. */
#ifndef RANKS_STRIPS_H
#define RANKS_STRIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "../common/picture.h"

#define STRIPS_ROWS 16 /* of a strip, when the user gives none */

/* Work that may be repeated takes two places in the table of submissions. A strip in flight has a
 * buffer for its result, beside those of all strips, which stay on the ranks from pass to pass. */
#if CONFIG_DYNSEL_MAX_IN_FLIGHT < CONFIG_DYNSEL_MAX_BUFFERS
#define STRIPS_MAX_IN_FLIGHT (CONFIG_DYNSEL_MAX_IN_FLIGHT / 2)
#else
#define STRIPS_MAX_IN_FLIGHT (CONFIG_DYNSEL_MAX_BUFFERS / 2)
#endif
#define STRIPS_MAX (CONFIG_DYNSEL_MAX_BUFFERS - STRIPS_MAX_IN_FLIGHT)

/** What a resource did. */
typedef struct strips_share {
    uint64_t strips;
    uint64_t busy_ns; /**< while it had work in flight, as far as the program saw that */
} strips_share;

typedef struct strips_result {
    strips_share shares[CONFIG_DYNSEL_MAX_RESOURCES];
    uint64_t strips, pixels, wall_ns;
    uint64_t again;      /**< strips that this program submitted again */
    bool is_memory_used; /**< a device that was given up may still use the pictures */
} strips_result;

/** The kernel of the strips, for the lists of all ranks. */
extern const dynsel_kernel strips_kernel;

/** How many strips a picture has. rows: of a strip; 0: STRIPS_ROWS, or as many more as the table
 * of buffers needs; out, how many they are. 0: more than STRIPS_MAX, stderr says so. */
uint32_t strips_count(const picture *source, uint32_t *rows);

/**
 * Tones a picture `passes` times. Strips that fail with their device are done again, elsewhere.
 *
 * result: of the same size.
 * False: stderr says why; nothing is in flight any more.
 */
bool strips_run(dynsel_policy *policy, const picture *source, picture *result, uint32_t rows,
                uint32_t passes, strips_result *out);

#endif
