/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include <stdio.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "measure.h"
#include "phases.h"
#include "report.h"

enum { KERNELS = 1000, BUFFERS = CONFIG_DYNSEL_MAX_BUFFERS, RARELY = 16 };

static const double MOST_TIMES_HAND = 1.1;
static const double MOST_MORE_NS_IN_THE_CALLER = 120;

/* The result shows that all steps ran, in order. */
static const dynsel_kernel advance = {
    .name = "advance",
    .source = "kernel void advance(global uint *x, uint i) { x[0] = x[0] * 3 + i; }",
};

static uint32_t advance_in_c(uint32_t x, uint32_t i)
{
    return x * 3 + i;
}

/* One device with its kernels, by hand and with dynsel. The kernels use `width` buffers in turn;
 * with one buffer they are a chain. */
typedef struct groups_device {
    dynsel_fixed_resource_policy policy;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem memory[BUFFERS];
    dynsel_accessor accessors[BUFFERS]; /* placeholders */
    uint32_t data[BUFFERS];
    uint32_t runs; /* of all kernels, with dynsel */
    uint32_t runs_by_hand;
} groups_device;

static groups_device the_device;

typedef struct one_step {
    const dynsel_accessor *x;
    uint32_t i;
} one_step;

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const one_step *s = args;
    dynsel_require(handler, s->x);
    dynsel_set_arg_accessor(handler, 0, s->x);
    dynsel_set_arg_value(handler, 1, &s->i, sizeof s->i);
    return dynsel_single_task(handler, &advance);
}

/* All kernels through command groups, until the last is complete. */
static void run_groups(groups_device *d, unsigned width)
{
    bool good = true;
    for (uint32_t i = 0; i < KERNELS; i++) {
        one_step s = {&d->accessors[i % width], i};
        good = dynsel_submit_command_group(&d->policy.policy, group, &s, NULL) == DYNSEL_OK && good;
    }
    good = dynsel_wait_group(dynsel_get_submission_group(&d->policy.policy)) == DYNSEL_OK && good;
    report_check(good, "command groups");
}

static cl_int enqueue_one(groups_device *d, uint32_t i, cl_mem x, const cl_event *after,
                          cl_event *done)
{
    const size_t one = 1;
    cl_int code = clSetKernelArg(d->kernel, 0, sizeof(cl_mem), (const void *)&x);
    code = code == CL_SUCCESS ? clSetKernelArg(d->kernel, 1, sizeof i, &i) : code;
    return code == CL_SUCCESS ? clEnqueueNDRangeKernel(d->queue, d->kernel, 1, NULL, &one, &one,
                                                       after != NULL ? 1 : 0, after, done)
                              : code;
}

/* The same by hand: each kernel has an event, for which the next one of a chain waits. */
static void run_by_hand(groups_device *d, unsigned width)
{
    cl_event last = NULL;
    bool good = true;
    for (uint32_t i = 0; i < KERNELS; i++) {
        cl_event event = NULL;
        const bool chained = width == 1 && last != NULL;
        good =
            enqueue_one(d, i, d->memory[i % width], chained ? &last : NULL, &event) == CL_SUCCESS &&
            good;
        good = (last == NULL || clReleaseEvent(last) == CL_SUCCESS) && good;
        last = event;
    }
    good = clWaitForEvents(1, &last) == CL_SUCCESS && clReleaseEvent(last) == CL_SUCCESS && good;
    report_check(good, "OpenCL by hand");
}

/* With an event for each RARELY-th kernel alone, where the queue's order is enough. */
static void run_with_few_events(groups_device *d, unsigned width)
{
    cl_event last = NULL;
    bool good = true;
    for (uint32_t i = 0; i < KERNELS; i++) {
        const bool has_event = i % RARELY == RARELY - 1 || i == KERNELS - 1;
        good = (!has_event || last == NULL || clReleaseEvent(last) == CL_SUCCESS) && good;
        good =
            enqueue_one(d, i, d->memory[i % width], NULL, has_event ? &last : NULL) == CL_SUCCESS &&
            good;
    }
    good = clWaitForEvents(1, &last) == CL_SUCCESS && clReleaseEvent(last) == CL_SUCCESS && good;
    report_check(good, "OpenCL by hand");
}

static uint32_t expected(unsigned first, unsigned width, uint32_t runs)
{
    uint32_t x = 0;
    for (uint32_t run = 0; run < runs; run++) {
        for (uint32_t i = first; i < KERNELS; i += width) {
            x = advance_in_c(x, i);
        }
    }
    return x;
}

/* Compares both results with plain C. */
static void check_results(groups_device *d, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        const uint32_t right = expected(i, width, d->runs);
        const uint32_t right_by_hand = expected(i, width, d->runs_by_hand);
        uint32_t by_hand = 0;
        dynsel_host_accessor seen = {0};
        report_check(clEnqueueReadBuffer(d->queue, d->memory[i], CL_TRUE, 0, sizeof by_hand,
                                         &by_hand, 0, NULL, NULL) == CL_SUCCESS,
                     "the result by hand");
        report_check(dynsel_host_accessor_open(&seen, d->accessors[i].buffer, DYNSEL_ACCESS_READ) ==
                         DYNSEL_OK,
                     "the result");
        report_check(by_hand == right_by_hand && *(const uint32_t *)seen.data == right,
                     "a wrong result");
        report_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "close");
    }
}

static void open_buffer(groups_device *d, unsigned i)
{
    cl_int code = CL_SUCCESS;
    dynsel_buffer buffer = {0};
    d->data[i] = 0;
    report_check(dynsel_buffer_init(&buffer, &d->data[i], sizeof d->data[i], DYNSEL_RANGE(1)) ==
                     DYNSEL_OK,
                 "dynsel_buffer_init");
    d->accessors[i] = (dynsel_accessor){.name = "x", .buffer = buffer, .placeholder = true};
    d->memory[i] = clCreateBuffer(dynsel_opencl_context(&d->policy.policy.resources[0]),
                                  CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof d->data[i],
                                  &d->data[i], &code);
    report_check(code == CL_SUCCESS, "clCreateBuffer");
}

static void close_buffer(groups_device *d, unsigned i)
{
    report_check(dynsel_buffer_deinit(&d->accessors[i].buffer) == DYNSEL_OK, "deinit");
    (void)clReleaseMemObject(d->memory[i]);
}

static void open_device(groups_device *d, const dynsel_resource *where)
{
    const dynsel_options options = {.resources = where, .count = 1};
    const cl_device_id id = dynsel_opencl_device(where);
    cl_int code = CL_SUCCESS;
    *d = (groups_device){.queue = dynsel_opencl_queue(where)};
    report_check(dynsel_fixed_resource_init(&d->policy, &options, 0) == DYNSEL_OK, "init");
    d->program = clCreateProgramWithSource(dynsel_opencl_context(where), 1,
                                           (const char **)&advance.source, NULL, &code);
    report_check(code == CL_SUCCESS &&
                     clBuildProgram(d->program, 1, &id, "", NULL, NULL) == CL_SUCCESS,
                 "the kernel cannot be built");
    d->kernel = clCreateKernel(d->program, advance.name, &code);
    report_check(code == CL_SUCCESS, "clCreateKernel");
}

static void close_device(groups_device *d)
{
    report_check(dynsel_policy_deinit(&d->policy.policy) == DYNSEL_OK, "deinit");
    (void)clReleaseKernel(d->kernel);
    (void)clReleaseProgram(d->program);
}

static double time_of(void (*run)(groups_device *d, unsigned width), groups_device *d,
                      unsigned width)
{
    const uint64_t began = measure_now_ns();
    run(d, width);
    return (double)(measure_now_ns() - began) / KERNELS;
}

/* PoCL's device `basic`, later `cpu-minimal`, runs kernels in the calling thread, so the limit is a
 * difference; elsewhere the driver's threads take most of the time, so the limit is a ratio. */
static double limit_of(const char *name, double by_hand)
{
    const bool in_caller = strncmp(name, "basic", 5) == 0 || strncmp(name, "cpu-minimal", 11) == 0;
    return in_caller ? by_hand + MOST_MORE_NS_IN_THE_CALLER : by_hand * MOST_TIMES_HAND;
}

/* Alternates the order, so that noise affects both equally. */
static void measure(groups_device *d, const char *name, unsigned width, unsigned repetitions)
{
    static double hand[MEASURE_MAX_SAMPLES];
    static double groups[MEASURE_MAX_SAMPLES];
    static double few_events[MEASURE_MAX_SAMPLES];
    char subject[128];
    for (unsigned i = 0; i < width; i++) {
        open_buffer(d, i);
    }
    run_by_hand(d, width); /* the kernels may be compiled now, and the copies made */
    run_groups(d, width);
    for (unsigned i = 0; i < repetitions; i++) {
        few_events[i] = time_of(run_with_few_events, d, width);
        if (i % 2 == 0) {
            hand[i] = time_of(run_by_hand, d, width);
        }
        groups[i] = time_of(run_groups, d, width);
        if (i % 2 != 0) {
            hand[i] = time_of(run_by_hand, d, width);
        }
    }
    d->runs = repetitions + 1;
    d->runs_by_hand = 2 * repetitions + 1;
    check_results(d, width);
    for (unsigned i = 0; i < width; i++) {
        close_buffer(d, i);
    }
    const double by_hand = measure_median(hand, repetitions);
    (void)snprintf(subject, sizeof subject, "%.16s, %s", name,
                   width == 1 ? "chain" : "independent");
    report_add(&(report_row){.table = "groups",
                             .subject = subject,
                             .resources = 1,
                             .threads = 1,
                             .reference = by_hand,
                             .measured = measure_median(groups, repetitions),
                             .overlap = -1,
                             .limit = limit_of(name, by_hand)});
    printf("    by hand with an event for each %dth kernel: %.1f ns\n", RARELY,
           measure_median(few_events, repetitions));
}

/* Functions of their own, so that callgrind can tell what these runs cost. */
__attribute__((noinline)) static void bench_phase_groups_hand(groups_device *d, unsigned batches)
{
    for (unsigned i = 0; i < batches; i++) {
        run_by_hand(d, 1);
    }
}

__attribute__((noinline)) static void bench_phase_groups(groups_device *d, unsigned batches)
{
    for (unsigned i = 0; i < batches; i++) {
        run_groups(d, 1);
    }
}

void bench_groups_phases(unsigned batches)
{
    size_t count = 0;
    const dynsel_resource *const resources = bench_devices(1, &count);
    if (count == 0) {
        return;
    }
    open_device(&the_device, &resources[0]);
    open_buffer(&the_device, 0);
    run_by_hand(&the_device, 1);
    run_groups(&the_device, 1);
    bench_phase_groups_hand(&the_device, batches);
    bench_phase_groups(&the_device, batches);
    close_buffer(&the_device, 0);
    close_device(&the_device);
    printf("work %u bench_phase_groups_hand\nwork %u bench_phase_groups\n", batches * KERNELS,
           batches * KERNELS);
}

void bench_groups(unsigned repetitions)
{
    size_t count = 0;
    const dynsel_resource *const resources = bench_devices(BENCH_MOST_DEVICES, &count);
    char title[400];
    if (count == 0) {
        return; /* bench_opencl() reports that there is none */
    }
    (void)snprintf(title, sizeof title,
                   "One of %d small kernels through command groups, from the first submit until "
                   "all are complete;\nas a chain over one buffer, and over %d buffers in turn. By "
                   "hand: arguments, enqueue with event\nand wait list, release. The budget is 10 "
                   "%% more, on PoCL's basic %.0f ns more.",
                   KERNELS, BUFFERS, MOST_MORE_NS_IN_THE_CALLER);
    report_table(title, "hand ns");
    for (size_t i = 0; i < count; i++) {
        open_device(&the_device, &resources[i]);
        measure(&the_device, dynsel_resource_name(&resources[i]), 1, repetitions);
        measure(&the_device, dynsel_resource_name(&resources[i]), BUFFERS, repetitions);
        close_device(&the_device);
    }
}
