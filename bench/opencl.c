/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/counts.h"
#include "measure.h"
#include "phases.h"
#include "report.h"

static const double MOST_MORE_NS = 60;

/* Nanoseconds for one submit. The device is idle before, but for a delay where the phase does not
 * wait for each submit; what it does after the last submit is not counted. */
static double time_batch(const bench_phase *phase, bench_device *device)
{
    if (!phase->waits) {
        bench_phases_busy(device);
    }
    const uint64_t began = measure_now_ns();
    phase->run(device);
    const uint64_t ended = measure_now_ns();
    bench_phases_idle(device);
    return (double)(ended - began) / PHASES_BATCH;
}

/* All ways in turn and back, so that noise hits each, and each comes first as often as last. */
static void measure_device(bench_device *device, unsigned repetitions)
{
    static double ns[PHASES][MEASURE_MAX_SAMPLES];
    for (unsigned phase = 0; phase < PHASES; phase++) {
        (void)time_batch(&bench_phases[phase], device); /* leaves something to reap */
    }
    for (unsigned i = 0; i < repetitions; i++) {
        for (unsigned turn = 0; turn < PHASES; turn++) {
            const unsigned phase = i % 2 == 0 ? turn : PHASES - 1 - turn;
            ns[phase][i] = time_batch(&bench_phases[phase], device);
        }
    }
    for (unsigned phase = 0; phase < PHASES; phase += 2) {
        char subject[128];
        const double by_hand = measure_median(ns[phase], repetitions);
        (void)snprintf(subject, sizeof subject, "%.16s, %s", device->name,
                       bench_phases[phase + 1].name);
        report_add(&(report_row){
            .table = "opencl",
            .subject = subject,
            .resources = 1,
            .threads = 1,
            .reference = by_hand,
            .measured = measure_median(ns[phase + 1], repetitions),
            .overlap = -1,
            .limit = bench_phases[phase].waits ? 0 : by_hand + MOST_MORE_NS,
        });
    }
}

static size_t open_devices(bench_device *devices)
{
    const size_t count = bench_phases_open(devices, BENCH_MOST_DEVICES);
    if (count == 0) {
        printf("\nOpenCL: no device\n");
    }
    return count;
}

void bench_opencl(unsigned repetitions)
{
    bench_device devices[BENCH_MOST_DEVICES];
    const size_t count = open_devices(devices);
    if (count != 0) {
        report_table("One OpenCL submit of a kernel that does nothing; the budget is 60 ns more "
                     "than by hand.\nBy hand, detached: enqueue and flush, later one status query "
                     "and release; with a handle: enqueue,\nflush, wait, release. The kernel's own "
                     "run is in both where the driver runs it in the caller.",
                     "hand ns");
    }
    for (size_t i = 0; i < count; i++) {
        bench_phases_select(i);
        measure_device(&devices[i], repetitions);
        bench_phases_clear();
    }
    bench_phases_close(devices, count);
}

static void run_phase(const bench_phase *phase, bench_device *device, unsigned batches)
{
    for (unsigned i = 0; i < batches; i++) {
        phase->run(device);
        bench_phases_idle(device);
    }
}

void bench_opencl_phases(unsigned batches)
{
    bench_device device;
    if (bench_phases_open(&device, 1) == 0) {
        return;
    }
    bench_phases_select(0);
    for (unsigned phase = 0; phase < PHASES; phase++) {
        run_phase(&bench_phases[phase], &device, batches);
        bench_phases_clear();
    }
    printf("work %s\n", device.name);
    for (unsigned phase = 0; phase < PHASES; phase++) {
        printf("work %u %s\n", batches * PHASES_BATCH, bench_phases[phase].function);
    }
    bench_phases_close(&device, 1);
}

/* The loader has loaded the layer; this finds it. NULL: it has not. */
static dynsel_layer_read_fn find_layer(void)
{
    const char *path = getenv("OPENCL_LAYERS");
    void *layer = path != NULL ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = layer != NULL ? dlsym(layer, "dynsel_layer_read") : NULL;
    dynsel_layer_read_fn read = NULL;
    memcpy(&read, &symbol, sizeof read); /* C knows no cast from data to functions */
    return read;
}

static void count_calls(bench_device *device, dynsel_layer_read_fn read, unsigned batches,
                        unsigned long counts[PHASES][DYNSEL_LAYER_FUNCTIONS])
{
    for (unsigned phase = 0; phase < PHASES; phase++) {
        unsigned long before[DYNSEL_LAYER_FUNCTIONS];
        unsigned long after[DYNSEL_LAYER_FUNCTIONS];
        run_phase(&bench_phases[phase], device, 2); /* leaves the same state as the last batches */
        (void)read(before);
        run_phase(&bench_phases[phase], device, batches);
        (void)read(after);
        for (unsigned i = 0; i < DYNSEL_LAYER_FUNCTIONS; i++) {
            counts[phase][i] = after[i] - before[i];
        }
        bench_phases_clear();
    }
}

static void print_calls(const char *const *names, unsigned batches,
                        unsigned long counts[PHASES][DYNSEL_LAYER_FUNCTIONS])
{
    const unsigned long tasks = (unsigned long)batches * PHASES_BATCH;
    printf("%-34s", "");
    for (unsigned phase = 0; phase < PHASES; phase++) {
        printf(" %24s", bench_phases[phase].name);
    }
    printf("\n");
    for (unsigned i = 0; i < DYNSEL_LAYER_FUNCTIONS; i++) {
        unsigned long all = 0;
        for (unsigned phase = 0; phase < PHASES; phase++) {
            all += counts[phase][i];
        }
        if (all == 0 || strcmp(names[i], "clFinish") == 0) {
            continue; /* the bench itself calls clFinish between batches */
        }
        printf("%-34s", names[i]);
        for (unsigned phase = 0; phase < PHASES; phase++) {
            printf(" %10lu = %.4f each", counts[phase][i],
                   (double)counts[phase][i] / (double)tasks);
        }
        printf("\n");
    }
}

void bench_opencl_calls(unsigned batches)
{
    bench_device devices[BENCH_MOST_DEVICES];
    const size_t count = bench_phases_open(devices, BENCH_MOST_DEVICES);
    dynsel_layer_read_fn read = find_layer();
    if (count != 0 && read == NULL) {
        printf("OpenCL calls: not counted, the loader did not load the layer in OPENCL_LAYERS\n");
    }
    for (size_t i = 0; i < count && read != NULL; i++) {
        unsigned long counts[PHASES][DYNSEL_LAYER_FUNCTIONS];
        unsigned long unused[DYNSEL_LAYER_FUNCTIONS];
        bench_phases_select(i);
        count_calls(&devices[i], read, batches, counts);
        printf("\nOpenCL calls of %u submits on %.40s, counted by a layer below the loader\n\n",
               batches * PHASES_BATCH, devices[i].name);
        print_calls(read(unused), batches, counts);
    }
    bench_phases_close(devices, count);
}
