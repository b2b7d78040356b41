/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "trouble_device.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "../measure.h"
#include "random.h"

enum {
    ELEMENTS = 256,
    INPUTS = 16,
    LOOK_NS = 100000, /* how often a device that hangs looks whether that has ended */
    FIRST_WIDTH_NS = 5000000
};

const char *const trouble_names[TROUBLES] = {"slow", "failing", "gone", "hanging"};

trouble_settings trouble = {.pieces = 2000, .task_us = 300, .times_slower = 10, .others_slower = 2};

static uint32_t rounds_for_one; /* of plain C, that take task_us */
static uint32_t inputs[INPUTS]; /* taken in turn */
static uint32_t expected[INPUTS];
static atomic_int now = TROUBLES;

static uint32_t plain_c(uint32_t x, uint32_t rounds)
{
    for (uint32_t k = 0; k < rounds * ELEMENTS; k++) {
        x = (x ^ (x >> 15)) * 0x2c1b3c6du + k;
    }
    return x;
}

void device_calibrate(uint64_t seed)
{
    enum { TRIAL = 64 };
    double best = 0;
    for (int i = 0; i < 5; i++) {
        const uint64_t began = measure_now_ns();
        expected[0] += plain_c((uint32_t)seed, TRIAL); /* so that it is computed */
        const double ns = (double)(measure_now_ns() - began);
        best = i == 0 || ns < best ? ns : best;
    }
    rounds_for_one = (uint32_t)((double)trouble.task_us * 1e3 * TRIAL / best) + 1;
    for (uint32_t i = 0; i < INPUTS; i++) {
        inputs[i] = (uint32_t)random_next(&seed);
        expected[i] = plain_c(inputs[i], rounds_for_one);
    }
}

void device_set(trouble_kind kind)
{
    atomic_store(&now, (int)kind);
}

trouble_kind device_get(void)
{
    return (trouble_kind)atomic_load(&now);
}

bool device_run(bool hit, job *j)
{
    const trouble_kind kind = hit ? device_get() : TROUBLES;
    if (kind == FAILING || kind == GONE) {
        return false;
    }
    while (hit && device_get() == HANGING) {
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    const uint64_t times = kind == SLOW ? trouble.times_slower : hit ? 1 : trouble.others_slower;
    uint32_t result = 0;
    for (uint64_t i = 0; i < times; i++) {
        result = plain_c(inputs[j->number % INPUTS], rounds_for_one);
    }
    /* it may have gone away meanwhile, with its results */
    if (hit && device_get() == GONE) {
        return false;
    }
    j->result = result;
    return true;
}

void job_prepare(job *j, uint32_t number)
{
    *j = (job){.number = number, .result = ~expected[number % INPUTS]};
}

static void timeline_count(timeline *t, uint64_t ns)
{
    t->width_ns = t->width_ns == 0 ? FIRST_WIDTH_NS : t->width_ns;
    while (ns / t->width_ns >= TIMELINE_BINS) {
        for (size_t i = 0; i < TIMELINE_BINS; i++) {
            const bool kept = i < TIMELINE_BINS / 2;
            t->done[i] = kept ? t->done[2 * i] + t->done[2 * i + 1] : 0;
        }
        t->width_ns *= 2;
    }
    t->done[ns / t->width_ns]++;
}

void outcome_count(outcome *o, const job *j, uint64_t since_ns)
{
    const uint64_t ns = measure_now_ns();
    o->longest_ns = ns - since_ns > o->longest_ns ? ns - since_ns : o->longest_ns;
    o->wrongly_done += j->result != expected[j->number % INPUTS] ? 1 : 0;
    o->done++;
    timeline_count(&o->over_time, ns - o->began_ns);
}

void outcome_advance(outcome *o, trouble_kind kind)
{
    if (o->first_ns == 0 && o->done >= trouble.pieces / 3) {
        o->first_ns = measure_now_ns();
        o->last_ns = o->first_ns;
        device_set(kind);
    }
    if (o->first_ns != 0 && o->ended_ns == 0 && o->done >= trouble.pieces * 2 / 3) {
        o->ended_ns = measure_now_ns();
        device_set(TROUBLES);
    }
}
