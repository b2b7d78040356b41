/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOAK_OPTIONS_H
#define SOAK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { SOAK_MOST_THREADS = 64 };

typedef struct soak_options {
    uint64_t count;
    uint64_t seed;
    unsigned threads;
    bool help;
} soak_options;

/* False, with a word on stderr, when the arguments are wrong. */
bool soak_options_parse(int argc, char **argv, soak_options *options);

#endif
