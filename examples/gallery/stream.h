/* SPDX-License-Identifier: Apache-2.0 */
/** The stream: each filter over each picture, several pieces of work in flight. */
#ifndef GALLERY_STREAM_H
#define GALLERY_STREAM_H

#include <dynsel/dynsel.h>

#include "pictures.h"

/* Each piece in flight has a buffer for its result, and at worst its picture for itself. */
#define STREAM_MAX_BY_BUFFERS (CONFIG_DYNSEL_MAX_BUFFERS / 2)
#define STREAM_MAX_IN_FLIGHT                                                                       \
    (STREAM_MAX_BY_BUFFERS < CONFIG_DYNSEL_MAX_IN_FLIGHT ? STREAM_MAX_BY_BUFFERS                   \
                                                         : CONFIG_DYNSEL_MAX_IN_FLIGHT)
#define STREAM_FIRST_PICTURES 20 /* which the report compares with the others */

/** What a resource did. */
typedef struct stream_share {
    uint64_t pieces[FILTER_COUNT];
    uint64_t pixels;
    uint64_t busy_ns; /**< while it had work in flight, as far as the stream saw that */
    uint64_t trials;  /**< pieces that it got to be measured: its time for them was not known, or it
                           was slower before */
} stream_share;

/** A part of the stream. */
typedef struct stream_part {
    uint64_t pieces, pixels, trials, ns;
} stream_part;

typedef struct stream_result {
    stream_share shares[CONFIG_DYNSEL_MAX_RESOURCES];
    stream_part first, rest;
    uint64_t wall_ns;
} stream_result;

/** How to run. */
typedef struct stream_options {
    uint32_t repeat;    /**< how often each picture comes */
    const char *folder; /**< where the results are written; NULL: nowhere */
} stream_options;

/** Memory for the results in flight, of the largest picture each. False: stderr says why. */
bool stream_open(const pictures *p, uint32_t in_flight);

/** Runs all pieces and compares each result with the reference. False: stderr says why; nothing is
 * in flight any more. */
bool stream_run(dynsel_policy *policy, pictures *p, const stream_options *options,
                stream_result *result);

void stream_close(void);

#endif
