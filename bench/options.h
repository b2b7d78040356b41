/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum bench_mode { BENCH_TIMES, BENCH_PHASES, BENCH_CALLS } bench_mode;

typedef struct bench_options {
    bench_mode mode;
    const char *csv;   /* NULL: none */
    const char *label; /* NULL: none */
    unsigned repetitions;
    uint32_t times;
    unsigned batches;
    bool help;
} bench_options;

/* False, with a word on stderr, when the arguments are wrong. */
bool bench_options_parse(int argc, char **argv, bench_options *options);

#endif
