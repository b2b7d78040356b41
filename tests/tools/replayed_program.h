/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs on simulated devices, whose traces dynsel-replay repeats. */
#ifndef DYNSEL_TESTS_REPLAYED_PROGRAM_H
#define DYNSEL_TESTS_REPLAYED_PROGRAM_H

#include <stdint.h>

/* Runs the program of this seed, and writes its trace. path: of the file. */
void replayed_program_record(const char *path, uint64_t seed);

#endif
