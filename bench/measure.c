/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_setaffinity_np() */

#include "measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

typedef struct runner {
    measure_loop loop;
    unsigned thread;
    unsigned threads;
    uint32_t times;
    atomic_uint *arrived;
    uint64_t began_ns;
    uint64_t ended_ns;
} runner;

uint64_t measure_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Binds each thread to another processor, if there are enough. */
static void stay_apart(unsigned thread)
{
    cpu_set_t allowed;
    cpu_set_t own;
    unsigned left = thread;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) {
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            (void)pthread_setaffinity_np(pthread_self(), sizeof own, &own);
            return;
        }
    }
}

/* The barrier spins, so that no thread is still waking up when the others begin. */
static void run(runner *self)
{
    atomic_fetch_add(self->arrived, 1);
    while (atomic_load(self->arrived) < self->threads) {
    }
    self->began_ns = measure_now_ns();
    self->loop.run(self->loop.context, self->thread, self->times);
    self->ended_ns = measure_now_ns();
}

/* The same threads for all samples, because the library keeps state for each thread. */
static struct helpers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    runner *jobs[MEASURE_MAX_THREADS]; /* NULL: nothing to do */
    unsigned numbers[MEASURE_MAX_THREADS];
    bool there;
} helpers = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *help(void *number)
{
    const unsigned thread = *(const unsigned *)number;
    stay_apart(thread);
    for (;;) {
        (void)pthread_mutex_lock(&helpers.lock);
        while (helpers.jobs[thread] == NULL) {
            (void)pthread_cond_wait(&helpers.changed, &helpers.lock);
        }
        runner *job = helpers.jobs[thread];
        (void)pthread_mutex_unlock(&helpers.lock);
        run(job);
        (void)pthread_mutex_lock(&helpers.lock);
        helpers.jobs[thread] = NULL;
        (void)pthread_cond_broadcast(&helpers.changed);
        (void)pthread_mutex_unlock(&helpers.lock);
    }
    return NULL;
}

static void start_helpers(void)
{
    for (unsigned i = 0; i < MEASURE_MAX_THREADS && !helpers.there; i++) {
        pthread_t id;
        helpers.numbers[i] = i;
        if (pthread_create(&id, NULL, help, &helpers.numbers[i]) != 0) {
            (void)fputs("bench: no thread can be started; raise the limit (ulimit -u)\n", stderr);
            exit(1);
        }
        (void)pthread_detach(id);
    }
    helpers.there = true;
}

static void run_together(runner *runners, unsigned threads)
{
    start_helpers();
    (void)pthread_mutex_lock(&helpers.lock);
    for (unsigned i = 0; i < threads; i++) {
        helpers.jobs[i] = &runners[i];
    }
    (void)pthread_cond_broadcast(&helpers.changed);
    for (unsigned i = 0; i < threads; i++) {
        while (helpers.jobs[i] != NULL) {
            (void)pthread_cond_wait(&helpers.changed, &helpers.lock);
        }
    }
    (void)pthread_mutex_unlock(&helpers.lock);
}

static measure_sample sum_up(const runner *runners, unsigned threads, uint32_t times)
{
    uint64_t first = UINT64_MAX;
    uint64_t last_start = 0;
    uint64_t first_end = UINT64_MAX;
    uint64_t last = 0;
    double total = 0;
    for (unsigned i = 0; i < threads; i++) {
        const uint64_t began = runners[i].began_ns;
        const uint64_t ended = runners[i].ended_ns;
        first = began < first ? began : first;
        last_start = began > last_start ? began : last_start;
        first_end = ended < first_end ? ended : first_end;
        last = ended > last ? ended : last;
        total += (double)(ended - began);
    }
    const double together = first_end > last_start ? (double)(first_end - last_start) : 0;
    return (measure_sample){.ns = total / threads / times,
                            .overlap = last > first ? together / (double)(last - first) : 1};
}

measure_sample measure_once(measure_loop loop, unsigned threads, uint32_t times)
{
    atomic_uint arrived = 0;
    runner runners[MEASURE_MAX_THREADS];
    for (unsigned i = 0; i < threads; i++) {
        runners[i] = (runner){
            .loop = loop, .thread = i, .threads = threads, .times = times, .arrived = &arrived};
    }
    if (threads == 1) {
        run(&runners[0]);
    } else {
        run_together(runners, threads);
    }
    return sum_up(runners, threads, times);
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

double measure_median(double *values, unsigned count)
{
    qsort(values, count, sizeof values[0], compare);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double measure_quantile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof values[0], compare);
    return values[(size_t)(share * (double)(count - 1) + 0.5)];
}
