/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SUBMITS_H
#define BENCH_SUBMITS_H

#include <stdint.h>

/* The table of submits over the backend inline, each beside its floor. */
void bench_submits(unsigned repetitions, uint32_t times);

#endif
