/* SPDX-License-Identifier: Apache-2.0 */
#include "transfers.h"

#include <stdio.h>

#include <dynsel/dynsel.h>

#include "measure.h"
#include "report.h"

enum {
    LEAST_BYTES = 64 << 10,
    LARGEST_BYTES = 256 << 20,
    GROWTH = 4,
    KIB = 1 << 10,
    MIB = 1 << 20
};
enum { LEAST_PINNED = 128 << 10 }; /* the library pins no smaller buffers by itself */
enum { MOST_PIECE_MIB = 16 };

static const double LEAST_OF_PINNED = 0.8;

typedef enum direction { IN, OUT, DIRECTIONS } direction;

/* Nanoseconds. */
typedef struct times {
    double ns[DIRECTIONS];
} times;

typedef struct hand {
    cl_context context;
    cl_command_queue queue;
    cl_mem device;
    cl_mem pinned;
    cl_kernel kernel;
    void *mapped; /* the pinned memory */
} hand;

static const char count_up[] = "kernel void count_up(global uint *x) { x[0] += 1; }";
static const dynsel_kernel count_up_kernel = {.name = "count_up", .source = count_up};

static _Alignas(4096) unsigned char ordinary[LARGEST_BYTES];
static _Alignas(4096) unsigned char pinned_by_program[LARGEST_BYTES];
static dynsel_fixed_resource_policy policy;

static void check_code(cl_int code, const char *what)
{
    report_check(code == CL_SUCCESS, what);
}

static hand open_by_hand(cl_device_id device, size_t bytes)
{
    hand h = {.context = NULL};
    cl_int code = CL_SUCCESS;
    const char *const source = count_up;
    h.context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check_code(code, "clCreateContext");
    h.queue = clCreateCommandQueue(h.context, device, 0, &code);
    check_code(code, "clCreateCommandQueue");
    h.device = clCreateBuffer(h.context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    check_code(code, "clCreateBuffer");
    h.pinned =
        clCreateBuffer(h.context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    check_code(code, "clCreateBuffer");
    h.mapped = clEnqueueMapBuffer(h.queue, h.pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                  0, NULL, NULL, &code);
    check_code(code, "clEnqueueMapBuffer");
    cl_program program =
        clCreateProgramWithSource(h.context, 1, (const char **)&source, NULL, &code);
    check_code(code, "clCreateProgramWithSource");
    check_code(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    h.kernel = clCreateKernel(program, "count_up", &code);
    check_code(code, "clCreateKernel");
    check_code(clSetKernelArg(h.kernel, 0, sizeof(cl_mem), &h.device), "clSetKernelArg");
    (void)clReleaseProgram(program);
    return h;
}

static void close_by_hand(hand *h)
{
    (void)clEnqueueUnmapMemObject(h->queue, h->pinned, h->mapped, 0, NULL, NULL);
    (void)clFinish(h->queue);
    (void)clReleaseKernel(h->kernel);
    (void)clReleaseMemObject(h->pinned);
    (void)clReleaseMemObject(h->device);
    (void)clReleaseCommandQueue(h->queue);
    (void)clReleaseContext(h->context);
}

/* In: a write and a small kernel. Out: a read. */
static times move_by_hand(const hand *h, void *memory, size_t bytes)
{
    static const size_t one = 1;
    cl_event done = NULL;
    const uint64_t began = measure_now_ns();
    check_code(clEnqueueWriteBuffer(h->queue, h->device, CL_FALSE, 0, bytes, memory, 0, NULL, NULL),
               "clEnqueueWriteBuffer");
    check_code(clEnqueueNDRangeKernel(h->queue, h->kernel, 1, NULL, &one, NULL, 0, NULL, &done),
               "clEnqueueNDRangeKernel");
    check_code(clWaitForEvents(1, &done), "clWaitForEvents");
    const uint64_t between = measure_now_ns();
    check_code(clEnqueueReadBuffer(h->queue, h->device, CL_TRUE, 0, bytes, memory, 0, NULL, NULL),
               "clEnqueueReadBuffer");
    const uint64_t ended = measure_now_ns();
    (void)clReleaseEvent(done);
    return (times){.ns = {(double)(between - began), (double)(ended - between)}};
}

static dynsel_status count_up_group(dynsel_handler *handler, void *args)
{
    const dynsel_accessor *const x = args;
    dynsel_require(handler, x);
    dynsel_set_arg_accessor(handler, 0, x);
    return dynsel_single_task(handler, &count_up_kernel);
}

/* The same through dynsel. */
static times move_buffer(dynsel_buffer buffer, uint32_t expected)
{
    dynsel_accessor x = {.name = "x", .buffer = buffer, .placeholder = true};
    dynsel_host_accessor seen = {0};
    dynsel_submission submission;
    const uint64_t began = measure_now_ns();
    report_check(dynsel_submit_command_group(&policy.policy, count_up_group, &x, &submission) ==
                         DYNSEL_OK &&
                     dynsel_wait(&submission) == DYNSEL_OK,
                 "a command group");
    const uint64_t between = measure_now_ns();
    report_check(dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ_WRITE) == DYNSEL_OK,
                 "dynsel_host_accessor_open");
    const uint64_t ended = measure_now_ns();
    report_check(*(const uint32_t *)seen.data == expected, "a wrong result");
    report_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "dynsel_host_accessor_close");
    return (times){.ns = {(double)(between - began), (double)(ended - between)}};
}

/* The median of each direction. */
static times median_of(times *samples, unsigned count)
{
    times median;
    for (int d = 0; d < DIRECTIONS; d++) {
        double ns[MEASURE_MAX_SAMPLES];
        for (unsigned i = 0; i < count; i++) {
            ns[i] = samples[i].ns[d];
        }
        median.ns[d] = measure_median(ns, count);
    }
    return median;
}

static times measure_by_hand(const hand *h, void *memory, size_t bytes, unsigned repetitions)
{
    static times samples[MEASURE_MAX_SAMPLES];
    (void)move_by_hand(h, memory, bytes); /* touches all pages */
    for (unsigned i = 0; i < repetitions; i++) {
        samples[i] = move_by_hand(h, memory, bytes);
    }
    return median_of(samples, repetitions);
}

/* first: out, the first transfers of a new buffer; the median over the buffers. */
static times measure_buffers(unsigned char *memory, size_t bytes, unsigned repetitions,
                             times *first, dynsel_movement *moved)
{
    enum { BUFFERS = 3, SETTLED = 2 };
    static times samples[MEASURE_MAX_SAMPLES];
    times firsts[BUFFERS];
    for (unsigned b = 0; b < BUFFERS; b++) {
        dynsel_buffer buffer = {0};
        uint32_t *const word = (uint32_t *)(void *)memory;
        *word = 0;
        report_check(dynsel_buffer_init(&buffer, memory, 1, DYNSEL_RANGE(bytes)) == DYNSEL_OK,
                     "dynsel_buffer_init");
        firsts[b] = move_buffer(buffer, 1);
        for (unsigned i = 0; i < SETTLED; i++) {
            (void)move_buffer(buffer, 2 + i);
        }
        for (unsigned i = 0; i < repetitions; i++) {
            samples[i] = move_buffer(buffer, 2 + SETTLED + i);
        }
        report_check(dynsel_buffer_movement(buffer, moved) == DYNSEL_OK, "dynsel_buffer_movement");
        report_check(dynsel_buffer_deinit(&buffer) == DYNSEL_OK, "dynsel_buffer_deinit");
    }
    *first = median_of(firsts, BUFFERS);
    return median_of(samples, repetitions);
}

static double rate(size_t bytes, double ns)
{
    return (double)bytes / ns; /* bytes per nanosecond are GB/s */
}

static void measure_size(cl_device_id device, size_t bytes, unsigned repetitions)
{
    dynsel_movement moved;
    times first;
    times first_pinned;
    hand h = open_by_hand(device, bytes);
    const times by_hand = measure_by_hand(&h, ordinary, bytes, repetitions);
    const times pinned = measure_by_hand(&h, h.mapped, bytes, repetitions);
    close_by_hand(&h);
    const times in_pinned =
        measure_buffers(pinned_by_program, bytes, repetitions, &first_pinned, &moved);
    const times later = measure_buffers(ordinary, bytes, repetitions, &first, &moved);
    for (int d = 0; d < DIRECTIONS; d++) {
        char subject[32];
        char text[160];
        const double best = rate(bytes, pinned.ns[d]);
        const double program = rate(bytes, in_pinned.ns[d]);
        const double repeated = rate(bytes, later.ns[d]);
        (void)snprintf(subject, sizeof subject, "%zu %s %s", bytes / (bytes < MIB ? KIB : MIB),
                       bytes < MIB ? "KiB" : "MiB", d == IN ? "in" : "out");
        (void)snprintf(text, sizeof text, "%8.2f %8.2f %8.2f %8.2f %6.2f %8.2f %8.2f %6.2f", best,
                       rate(bytes, by_hand.ns[d]), rate(bytes, first.ns[d]), repeated,
                       repeated / best, rate(bytes, first_pinned.ns[d]), program, program / best);
        report_fact(subject, text,
                    program >= LEAST_OF_PINNED * best &&
                        (bytes < LEAST_PINNED || repeated >= LEAST_OF_PINNED * best));
    }
}

/* Has the memory pinned now, so that this is in no sample. */
static void pin(void)
{
    dynsel_buffer buffer = {0};
    report_check(dynsel_opencl_pin_memory(pinned_by_program, sizeof pinned_by_program) == DYNSEL_OK,
                 "dynsel_opencl_pin_memory");
    report_check(dynsel_buffer_init(&buffer, pinned_by_program, 1, DYNSEL_RANGE(LEAST_BYTES)) ==
                     DYNSEL_OK,
                 "dynsel_buffer_init");
    const uint64_t began = measure_now_ns();
    (void)move_buffer(buffer, 1);
    printf("The first transfer from %d MiB that the program had pinned took %.1f ms.\n\n",
           LARGEST_BYTES / MIB, (double)(measure_now_ns() - began) / 1e6);
    report_check(dynsel_buffer_deinit(&buffer) == DYNSEL_OK, "dynsel_buffer_deinit");
}

void bench_transfers(unsigned mib, unsigned repetitions)
{
    static dynsel_resource resources[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    size_t count = 0;
    if (dynsel_opencl_select(NULL, resources, CONFIG_DYNSEL_OPENCL_MAX_DEVICES, &count) !=
        DYNSEL_OK) {
        printf("\nOpenCL: no device\n");
        return;
    }
    const dynsel_resource *const where = &resources[count - 1];
    const dynsel_options options = {.resources = where, .count = 1};
    const cl_device_id device = dynsel_opencl_device(where);
    report_check(dynsel_fixed_resource_init(&policy, &options, 0) == DYNSEL_OK, "init");
    printf("\n%s: GB/s to the device (with the launch of a small kernel) and back. By hand from "
           "pinned and from\nordinary memory; a buffer over ordinary memory, its first transfer "
           "and later ones; a buffer over\nmemory that the program had pinned, likewise. Ratios "
           "to pinned by hand; the budget is %.1f.\n",
           dynsel_resource_name(where), LEAST_OF_PINNED);
    pin();
    printf("%-34s %8s %8s %8s %8s %6s %8s %8s %6s\n", "", "pinned", "ordinary", "first", "later",
           "ratio", "first", "later", "ratio");
    for (size_t bytes = LEAST_BYTES; bytes <= (size_t)mib * MIB; bytes *= GROWTH) {
        measure_size(device, bytes, repetitions);
    }
    report_check(dynsel_opencl_unpin_memory(pinned_by_program) == DYNSEL_OK,
                 "dynsel_opencl_unpin_memory");
    report_check(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "deinit");
    bench_overlap(where, mib < MOST_PIECE_MIB ? mib : MOST_PIECE_MIB);
}
