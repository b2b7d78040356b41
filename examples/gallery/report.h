/* SPDX-License-Identifier: Apache-2.0 */
/** The tables at the end. */
#ifndef GALLERY_REPORT_H
#define GALLERY_REPORT_H

#include "resources.h"
#include "stream.h"

/** Which resource did what. */
void report_shares(const resources *r, const stream_result *result);

/** The first pictures of the stream against the rest. */
void report_parts(const stream_result *result);

/** Each resource alone, and all together. alone_ns: by resource. pixels: of the results. */
void report_comparison(const resources *r, const uint64_t *alone_ns, uint64_t together_ns,
                       uint64_t pixels);

#endif
