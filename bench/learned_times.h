/* SPDX-License-Identifier: Apache-2.0 */
/* The times of work that a policy learns on OpenCL devices, beside the times measured by hand. */
#ifndef BENCH_LEARNED_TIMES_H
#define BENCH_LEARNED_TIMES_H

/* The table: one in `one_in` submissions is timed. */
void bench_learned_times(unsigned one_in, unsigned repetitions);

#endif
