/* SPDX-License-Identifier: Apache-2.0 */
/* Timing loops in one thread or in several at once. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

enum { MEASURE_MAX_THREADS = 2, MEASURE_MAX_SAMPLES = 64 };

/* A loop with `times` iterations. */
typedef struct measure_loop {
    void (*run)(void *context, unsigned thread, uint32_t times);
    void *context;
} measure_loop;

typedef struct measure_sample {
    double ns;      /* of one iteration in one thread, mean over the threads */
    double overlap; /* share of the time in which all threads ran the loop; 0 to 1 */
} measure_sample;

uint64_t measure_now_ns(void);

/* Runs the loop in all threads at once. */
measure_sample measure_once(measure_loop loop, unsigned threads, uint32_t times);

/* The middle of `count` values, 1 to MEASURE_MAX_SAMPLES; they are sorted. */
double measure_median(double *values, unsigned count);

/* The value below which about `share` (0 to 1) of the `count` values are, 1 or more; they are
 * sorted. */
double measure_quantile(double *values, size_t count, double share);

#endif
