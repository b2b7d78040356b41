/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdint.h>

typedef enum bench_mode {
    BENCH_TIMES,
    BENCH_PHASES,
    BENCH_CALLS,
    BENCH_WORK_GROUPS,
    BENCH_LEARNED_TIMES,
    BENCH_TRANSFERS
} bench_mode;

typedef struct bench_options {
    bench_mode mode;
    const char *csv;   /* NULL: none */
    const char *label; /* NULL: none */
    unsigned repetitions;
    uint32_t times;
    unsigned batches;
    uint32_t items;  /* of BENCH_WORK_GROUPS */
    unsigned one_in; /* of BENCH_LEARNED_TIMES */
    unsigned mib;    /* of BENCH_TRANSFERS */
} bench_options;

/* --help and errors end the program. */
bench_options bench_options_parse(int argc, char **argv);

#endif
