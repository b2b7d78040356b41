/* SPDX-License-Identifier: Apache-2.0 */
/* How fast buffers move to a device and back, and whether they move while it computes, compared
 * with pinned memory and three queues by hand. */
#ifndef BENCH_TRANSFERS_H
#define BENCH_TRANSFERS_H

#include <dynsel/opencl.h>

/* Sizes up to `mib` MiB, 256 at most. */
void bench_transfers(unsigned mib, unsigned repetitions);

/* A stream of pieces that take as long to move as to compute. mib: of a piece, 16 at most. */
void bench_overlap(const dynsel_resource *where, unsigned mib);

#endif
