/* SPDX-License-Identifier: Apache-2.0 */
/* The work-group sizes that the library chooses beside all others by hand. */
#ifndef BENCH_WORK_GROUPS_H
#define BENCH_WORK_GROUPS_H

#include <stdint.h>

/* The table of times of kernels over about this number of work-items. */
void bench_work_groups(uint32_t items, unsigned repetitions);

#endif
