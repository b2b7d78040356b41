/* SPDX-License-Identifier: Apache-2.0 */
#include "transfers.h"

#include <stdio.h>

#include <dynsel/dynsel.h>

#include "measure.h"
#include "report.h"

enum { RING = 4, PIECES = 64, MIB = 1 << 20, MOST_BYTES = 16 << 20, SAMPLES = 5, TRIES = 4 };

static const double MOST_TIMES_LONGER = 1.15;

/* Each element goes through `rounds` steps of a generator of random numbers. */
#define STEP(x) ((x)*1664525u + 1013904223u)
static const char source[] = "kernel void advance(global uint *x, uint rounds)"
                             "{ uint v = x[get_global_id(0)];"
                             "  for (uint i = 0; i < rounds; i++) v = v * 1664525u + 1013904223u;"
                             "  x[get_global_id(0)] = v; }";
static const dynsel_kernel advance_kernel = {.name = "advance", .source = source};

static _Alignas(4096) uint32_t memory[RING][MOST_BYTES / sizeof(uint32_t)];
static dynsel_fixed_resource_policy policy;
static dynsel_buffer buffers[RING];
static size_t words; /* of a piece */

typedef struct stepping {
    dynsel_accessor x;
    uint32_t rounds;
} stepping;

static dynsel_status advance_group(dynsel_handler *handler, void *args)
{
    const stepping *const s = args;
    dynsel_require(handler, &s->x);
    dynsel_set_arg_accessor(handler, 0, &s->x);
    dynsel_set_arg_value(handler, 1, &s->rounds, sizeof s->rounds);
    return dynsel_parallel_for(handler, &advance_kernel, DYNSEL_RANGE(words), NULL, NULL);
}

static void submit(unsigned place, uint32_t rounds)
{
    stepping s = {.x = {.name = "x", .buffer = buffers[place], .placeholder = true},
                  .rounds = rounds};
    report_check(dynsel_submit_command_group(&policy.policy, advance_group, &s, NULL) == DYNSEL_OK,
                 "a piece");
}

static uint32_t result_of(uint32_t v, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        v = STEP(v);
    }
    return v;
}

/* What the host does with a result, and where it has the next data: in the first and last word. */
static void check_piece(const uint32_t *x, uint32_t piece, uint32_t rounds)
{
    const uint32_t expected = result_of(piece, rounds);
    report_check(x[0] == expected && x[words - 1] == expected, "a wrong result");
}

static void write_piece(uint32_t *x, uint32_t piece)
{
    x[0] = piece;
    x[words - 1] = piece;
}

/* The program: the results of the piece that was in the buffer, the next piece, a command group. */
static double stream(uint32_t rounds)
{
    const uint64_t began = measure_now_ns();
    for (uint32_t piece = 0; piece < PIECES + RING; piece++) {
        dynsel_host_accessor data = {0};
        report_check(dynsel_host_accessor_open(&data, buffers[piece % RING],
                                               DYNSEL_ACCESS_READ_WRITE) == DYNSEL_OK,
                     "dynsel_host_accessor_open");
        if (piece >= RING) {
            check_piece(data.data, piece - RING, rounds);
        }
        if (piece < PIECES) {
            write_piece(data.data, piece);
        }
        report_check(dynsel_host_accessor_close(&data) == DYNSEL_OK, "dynsel_host_accessor_close");
        if (piece < PIECES) {
            submit(piece % RING, rounds);
        }
    }
    return (double)(measure_now_ns() - began) / PIECES;
}

/* The same kernels, on data that stay on the device. */
static double compute(uint32_t rounds)
{
    for (unsigned place = 0; place < RING; place++) {
        submit(place, 0);
    }
    report_check(dynsel_wait_group(dynsel_get_submission_group(&policy.policy)) == DYNSEL_OK,
                 "wait");
    const uint64_t began = measure_now_ns();
    for (unsigned piece = 0; piece < PIECES; piece++) {
        submit(piece % RING, rounds);
    }
    report_check(dynsel_wait_group(dynsel_get_submission_group(&policy.policy)) == DYNSEL_OK,
                 "wait");
    return (double)(measure_now_ns() - began) / PIECES;
}

static double median(double (*run)(uint32_t), uint32_t rounds)
{
    double ns[SAMPLES];
    for (unsigned i = 0; i < SAMPLES; i++) {
        ns[i] = run(rounds);
    }
    return measure_median(ns, SAMPLES);
}

/* So many rounds that a piece takes so long. */
static uint32_t calibrate(double ns)
{
    uint32_t rounds = 64;
    for (unsigned i = 0; i < TRIES; i++) {
        const double took = compute(rounds);
        const double empty = compute(0);
        const double each = (took - empty) / rounds;
        rounds = each > 0 && ns > empty ? (uint32_t)((ns - empty) / each) + 1 : 1;
    }
    return rounds;
}

typedef struct hand {
    cl_context context;
    cl_command_queue in, main, out;
    cl_kernel kernel;
    cl_mem pinned[RING];
    cl_mem device[RING];
    uint32_t *mapped[RING];
    cl_event done[RING]; /* the piece that was read back */
} hand;

static void check_code(cl_int code, const char *what)
{
    report_check(code == CL_SUCCESS, what);
}

static cl_command_queue new_queue(cl_context context, cl_device_id device)
{
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    check_code(code, "clCreateCommandQueue");
    return queue;
}

static void open_by_hand(hand *h, cl_device_id device)
{
    cl_int code = CL_SUCCESS;
    const char *text = source;
    h->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check_code(code, "clCreateContext");
    h->in = new_queue(h->context, device);
    h->main = new_queue(h->context, device);
    h->out = new_queue(h->context, device);
    cl_program program = clCreateProgramWithSource(h->context, 1, &text, NULL, &code);
    check_code(code, "clCreateProgramWithSource");
    check_code(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    h->kernel = clCreateKernel(program, "advance", &code);
    check_code(code, "clCreateKernel");
    (void)clReleaseProgram(program);
    for (unsigned i = 0; i < RING; i++) {
        const size_t bytes = words * sizeof(uint32_t);
        h->device[i] = clCreateBuffer(h->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
        check_code(code, "clCreateBuffer");
        h->pinned[i] = clCreateBuffer(h->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                                      NULL, &code);
        check_code(code, "clCreateBuffer");
        h->mapped[i] =
            clEnqueueMapBuffer(h->main, h->pinned[i], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                               0, NULL, NULL, &code);
        check_code(code, "clEnqueueMapBuffer");
    }
}

static void close_by_hand(hand *h)
{
    for (unsigned i = 0; i < RING; i++) {
        (void)clEnqueueUnmapMemObject(h->main, h->pinned[i], h->mapped[i], 0, NULL, NULL);
        (void)clFinish(h->main);
        (void)clReleaseMemObject(h->pinned[i]);
        (void)clReleaseMemObject(h->device[i]);
    }
    (void)clReleaseKernel(h->kernel);
    (void)clReleaseCommandQueue(h->in);
    (void)clReleaseCommandQueue(h->main);
    (void)clReleaseCommandQueue(h->out);
    (void)clReleaseContext(h->context);
}

static void enqueue_piece(hand *h, unsigned i, uint32_t rounds)
{
    const size_t bytes = words * sizeof(uint32_t);
    cl_event moved = NULL;
    cl_event ran = NULL;
    check_code(clEnqueueWriteBuffer(h->in, h->device[i], CL_FALSE, 0, bytes, h->mapped[i], 0, NULL,
                                    &moved),
               "clEnqueueWriteBuffer");
    check_code(clFlush(h->in), "clFlush");
    check_code(clSetKernelArg(h->kernel, 0, sizeof(cl_mem), &h->device[i]), "clSetKernelArg");
    check_code(clSetKernelArg(h->kernel, 1, sizeof rounds, &rounds), "clSetKernelArg");
    check_code(clEnqueueNDRangeKernel(h->main, h->kernel, 1, NULL, &words, NULL, 1, &moved, &ran),
               "clEnqueueNDRangeKernel");
    check_code(clFlush(h->main), "clFlush");
    check_code(clEnqueueReadBuffer(h->out, h->device[i], CL_FALSE, 0, bytes, h->mapped[i], 1, &ran,
                                   &h->done[i]),
               "clEnqueueReadBuffer");
    check_code(clFlush(h->out), "clFlush");
    (void)clReleaseEvent(moved);
    (void)clReleaseEvent(ran);
}

static hand by_hand;

static double stream_by_hand(uint32_t rounds)
{
    hand *const h = &by_hand;
    const uint64_t began = measure_now_ns();
    for (uint32_t piece = 0; piece < PIECES + RING; piece++) {
        const unsigned i = piece % RING;
        if (piece >= RING) {
            check_code(clWaitForEvents(1, &h->done[i]), "clWaitForEvents");
            (void)clReleaseEvent(h->done[i]);
            check_piece(h->mapped[i], piece - RING, rounds);
        }
        if (piece < PIECES) {
            write_piece(h->mapped[i], piece);
            enqueue_piece(h, i, rounds);
        }
    }
    return (double)(measure_now_ns() - began) / PIECES;
}

static void report(double move, double computing, double both, double hand_both, double hand_move)
{
    char text[160];
    const double longer = move > computing ? move : computing;
    (void)snprintf(text, sizeof text,
                   "%.0f us moving, %.0f computing, both %.0f: %.2f; by hand %.0f moving, both "
                   "%.0f",
                   move / 1e3, computing / 1e3, both / 1e3, both / longer, hand_move / 1e3,
                   hand_both / 1e3);
    report_fact("a piece of the stream", text, both <= MOST_TIMES_LONGER * longer);
}

void bench_overlap(const dynsel_resource *where, unsigned mib)
{
    const dynsel_options options = {.resources = where, .count = 1};
    words = (size_t)mib * MIB / sizeof(uint32_t);
    report_check(dynsel_fixed_resource_init(&policy, &options, 0) == DYNSEL_OK, "init");
    for (unsigned i = 0; i < RING; i++) {
        report_check(dynsel_buffer_init(&buffers[i], memory[i], sizeof(uint32_t),
                                        DYNSEL_RANGE(words)) == DYNSEL_OK,
                     "dynsel_buffer_init");
    }
    printf("\nA stream of %d pieces of %u MiB, which move to the device and back, with a kernel "
           "that takes as long as\nthat, in %d buffers over ordinary memory; the budget is %.2f "
           "of the longer. By hand with pinned\nmemory and three queues.\n\n",
           PIECES, mib, RING, MOST_TIMES_LONGER);
    (void)stream(0); /* pins the memory */
    const double move = median(stream, 0);
    const uint32_t rounds = calibrate(move);
    const double computing = median(compute, rounds);
    const double both = median(stream, rounds);
    open_by_hand(&by_hand, dynsel_opencl_device(where));
    (void)stream_by_hand(0);
    const double hand_move = median(stream_by_hand, 0);
    const double hand_both = median(stream_by_hand, rounds);
    close_by_hand(&by_hand);
    report(move, computing, both, hand_both, hand_move);
    for (unsigned i = 0; i < RING; i++) {
        report_check(dynsel_buffer_deinit(&buffers[i]) == DYNSEL_OK, "dynsel_buffer_deinit");
    }
    report_check(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "deinit");
}
