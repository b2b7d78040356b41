/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups on OpenCL devices, compared with the same kernels by hand, and their copies. */
#ifndef BENCH_GROUPS_H
#define BENCH_GROUPS_H

/* The table of times: chains, and kernels that do not depend on each other. */
void bench_groups(unsigned repetitions);

/* Runs the chain in batches by hand and with dynsel, and prints `work <kernels> <function>`, for
 * callgrind. */
void bench_groups_phases(unsigned batches);

/* The bytes copied for a large buffer, and for one that two devices read repeatedly. */
void bench_movement(void);

#endif
