/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups on OpenCL devices beside the same kernels by hand, and what they move. */
#ifndef BENCH_GROUPS_H
#define BENCH_GROUPS_H

/* The table of times: chains, and kernels that do not depend on each other. */
void bench_groups(unsigned repetitions);

/* Runs the chain so many times each way and prints `work <kernels> <function>`: for callgrind. */
void bench_groups_phases(unsigned batches);

/* What was moved for a large buffer, and for one that two devices read again and again. */
void bench_movement(void);

#endif
