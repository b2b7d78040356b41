/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of iterators beside the same kernels by hand. */
#ifndef BENCH_RANGES_H
#define BENCH_RANGES_H

/* The table of times: a large range staged and passed directly, and iterators of iterators. */
void bench_ranges(unsigned repetitions);

#endif
