/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOAK_OPTIONS_H
#define SOAK_OPTIONS_H

#include <stdint.h>

enum { SOAK_MOST_THREADS = 64 };

typedef struct soak_options {
    uint64_t count;
    uint64_t seed;
    unsigned threads;
} soak_options;

/* --help and mistakes end the program. */
soak_options soak_options_parse(int argc, char **argv);

#endif
