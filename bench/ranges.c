/* SPDX-License-Identifier: Apache-2.0 */
#define CL_TARGET_OPENCL_VERSION 200 /* clSetKernelArgSVMPointer() by hand */

#include "ranges.h"

#include <stdio.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "measure.h"
#include "phases.h"
#include "report.h"

enum { MIB = 64, COUNT = (MIB << 20) / sizeof(uint32_t), FIRST = 16 };

#define LARGE_BYTES ((size_t)COUNT * sizeof(uint32_t))

static const double MOST_TIMES_HAND = 1.05;

/* Code shared by the host and the kernels. */
#define RANGES(AS)                                                                                 \
    AS(typedef unsigned word;)                                                                     \
    AS(DYNSEL_HOST_ITERATOR(inputs, word);)                                                        \
    AS(DYNSEL_POINTER_ITERATOR(samples, word);)                                                    \
    AS(DYNSEL_COUNTING_ITERATOR(numbers, word);)                                                   \
    AS(DYNSEL_PERMUTATION_ITERATOR(shifted, samples, numbers);)                                    \
    AS(DYNSEL_PERMUTATION_ITERATOR(chosen, numbers, samples);)                                     \
    AS(static inline word mix(word x) { return x * 3 + 1; })                                       \
    AS(DYNSEL_TRANSFORM_ITERATOR(mixed_shifted, shifted, mix, word);)                              \
    AS(DYNSEL_TRANSFORM_ITERATOR(mixed_chosen, chosen, mix, word);)

RANGES(DYNSEL_AS_C)

#define FRONT DYNSEL_OPENCL_ITERATORS RANGES(DYNSEL_AS_TEXT)

#define ADD_ONE(type)                                                                              \
    {                                                                                              \
        .name = "add_one",                                                                         \
        .source = FRONT "kernel void add_one(global word *data)\n"                                 \
                        "{\n"                                                                      \
                        "    const " #type " all = " #type "_make(data);\n"                        \
                        "    const size_t i = get_global_id(0);\n"                                 \
                        "    " #type "_write(all, i, " #type "_read(all, i) + 1);\n"               \
                        "}\n",                                                                     \
    }

#define TRANSFORM(type, parameters, made)                                                          \
    {                                                                                              \
        .name = "transform",                                                                       \
        .source = FRONT "kernel void transform(" parameters ", global word *results)\n"            \
                        "{\n"                                                                      \
                        "    const " #type " in = " made ";\n"                                     \
                        "    const samples out = samples_make(results);\n"                         \
                        "    const size_t i = get_global_id(0);\n"                                 \
                        "    samples_write(out, i, " #type "_read(in, i));\n"                      \
                        "}\n",                                                                     \
    }

static const dynsel_kernel add_to_inputs = ADD_ONE(inputs);
static const dynsel_kernel add_to_samples = ADD_ONE(samples);
static const dynsel_kernel transform_shifted =
    TRANSFORM(mixed_shifted, "global word *data, word first",
              "mixed_shifted_make(shifted_make(samples_make(data), numbers_make(first), 0))");
static const dynsel_kernel transform_chosen =
    TRANSFORM(mixed_chosen, "word first, global word *map",
              "mixed_chosen_make(chosen_make(numbers_make(first), samples_make(map), 0))");

static const char by_hand[] = "kernel void add_one(global uint *data)\n"
                              "{ data[get_global_id(0)] += 1; }\n"
                              "kernel void shift(global uint *data, uint first, global uint *out)\n"
                              "{ const size_t i = get_global_id(0);\n"
                              "  out[i] = data[first + (uint)i] * 3 + 1; }\n"
                              "kernel void choose(uint first, global uint *map, global uint *out)\n"
                              "{ const size_t i = get_global_id(0);\n"
                              "  out[i] = (first + map[i]) * 3 + 1; }\n";

static uint32_t host_words[COUNT];

/* One device, and its memory shared with the host. */
typedef struct range_device {
    dynsel_fixed_resource_policy policy;
    cl_command_queue queue;
    cl_program program;
    cl_mem staging; /* by hand */
    uint32_t *data; /* FIRST more than COUNT */
    uint32_t *map;
    uint32_t *results;
} range_device;

static range_device the_device;

static dynsel_status staged_group(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_set_range(handler, 0, inputs, inputs_make(host_words), COUNT, DYNSEL_ACCESS_READ_WRITE);
    return dynsel_parallel_for(handler, &add_to_inputs, DYNSEL_RANGE(COUNT), NULL, NULL);
}

static dynsel_status direct_group(dynsel_handler *handler, void *args)
{
    const range_device *d = args;
    dynsel_set_range(handler, 0, samples, samples_make(d->results), COUNT,
                     DYNSEL_ACCESS_READ_WRITE);
    return dynsel_parallel_for(handler, &add_to_samples, DYNSEL_RANGE(COUNT), NULL, NULL);
}

static dynsel_status shift_group(dynsel_handler *handler, void *args)
{
    const range_device *d = args;
    const shifted in = shifted_make(samples_make(d->data), numbers_make(FIRST), COUNT + FIRST);
    dynsel_set_range(handler, 0, mixed_shifted, mixed_shifted_make(in), COUNT, DYNSEL_ACCESS_READ);
    dynsel_set_range(handler, 2, samples, samples_make(d->results), COUNT,
                     DYNSEL_ACCESS_DISCARD_WRITE);
    return dynsel_parallel_for(handler, &transform_shifted, DYNSEL_RANGE(COUNT), NULL, NULL);
}

static dynsel_status choose_group(dynsel_handler *handler, void *args)
{
    const range_device *d = args;
    const chosen in = chosen_make(numbers_make(FIRST), samples_make(d->map), COUNT);
    dynsel_set_range(handler, 0, mixed_chosen, mixed_chosen_make(in), COUNT, DYNSEL_ACCESS_READ);
    dynsel_set_range(handler, 2, samples, samples_make(d->results), COUNT,
                     DYNSEL_ACCESS_DISCARD_WRITE);
    return dynsel_parallel_for(handler, &transform_chosen, DYNSEL_RANGE(COUNT), NULL, NULL);
}

static bool enqueue(const range_device *d, cl_kernel kernel)
{
    const size_t global = COUNT;
    return clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL) ==
           CL_SUCCESS;
}

static bool staged_by_hand(const range_device *d, cl_kernel kernel)
{
    return clSetKernelArg(kernel, 0, sizeof(cl_mem), (const void *)&d->staging) == CL_SUCCESS &&
           clEnqueueWriteBuffer(d->queue, d->staging, CL_FALSE, 0, LARGE_BYTES, host_words, 0, NULL,
                                NULL) == CL_SUCCESS &&
           enqueue(d, kernel) &&
           clEnqueueReadBuffer(d->queue, d->staging, CL_TRUE, 0, LARGE_BYTES, host_words, 0, NULL,
                               NULL) == CL_SUCCESS;
}

static bool direct_by_hand(const range_device *d, cl_kernel kernel)
{
    return clSetKernelArgSVMPointer(kernel, 0, d->results) == CL_SUCCESS && enqueue(d, kernel) &&
           clFinish(d->queue) == CL_SUCCESS;
}

static bool shifted_by_hand(const range_device *d, cl_kernel kernel)
{
    const cl_uint first = FIRST;
    return clSetKernelArgSVMPointer(kernel, 0, d->data) == CL_SUCCESS &&
           clSetKernelArg(kernel, 1, sizeof first, &first) == CL_SUCCESS &&
           clSetKernelArgSVMPointer(kernel, 2, d->results) == CL_SUCCESS && enqueue(d, kernel) &&
           clFinish(d->queue) == CL_SUCCESS;
}

static bool chosen_by_hand(const range_device *d, cl_kernel kernel)
{
    const cl_uint first = FIRST;
    return clSetKernelArg(kernel, 0, sizeof first, &first) == CL_SUCCESS &&
           clSetKernelArgSVMPointer(kernel, 1, d->map) == CL_SUCCESS &&
           clSetKernelArgSVMPointer(kernel, 2, d->results) == CL_SUCCESS && enqueue(d, kernel) &&
           clFinish(d->queue) == CL_SUCCESS;
}

/* The expected value of every word; `runs` counts those by hand and with dynsel. */
static uint32_t staged_word(const range_device *d, uint32_t i, uint32_t runs)
{
    (void)d;
    return i + runs;
}

static uint32_t shifted_word(const range_device *d, uint32_t i, uint32_t runs)
{
    (void)runs;
    return mix(d->data[FIRST + i]);
}

static uint32_t chosen_word(const range_device *d, uint32_t i, uint32_t runs)
{
    (void)runs;
    return mix(FIRST + d->map[i]);
}

typedef struct range_case {
    const char *name;
    dynsel_group_fn group;
    const char *kernel; /* by hand */
    bool (*by_hand)(const range_device *d, cl_kernel kernel);
    uint32_t (*expected)(const range_device *d, uint32_t i, uint32_t runs);
    bool staged;
    double most_times_hand; /* 0: no budget */
} range_case;

enum { CASES = 4 };

static const range_case cases[CASES] = {
    {"staged", staged_group, "add_one", staged_by_hand, staged_word, true, 0},
    {"direct", direct_group, "add_one", direct_by_hand, staged_word, false, 0},
    {"permutation by counting", shift_group, "shift", shifted_by_hand, shifted_word, false,
     MOST_TIMES_HAND},
    {"permutation of counting", choose_group, "choose", chosen_by_hand, chosen_word, false,
     MOST_TIMES_HAND},
};

static uint32_t *share(const dynsel_resource *where, size_t count)
{
    void *block = NULL;
    report_check(dynsel_svm_alloc(where, count * sizeof(uint32_t), 4096, &block) == DYNSEL_OK &&
                     dynsel_svm_map(block, DYNSEL_ACCESS_DISCARD_WRITE) == DYNSEL_OK,
                 "dynsel_svm_alloc");
    for (size_t i = 0; i < count; i++) {
        ((uint32_t *)block)[i] = (uint32_t)(i * 7) % COUNT;
    }
    report_check(dynsel_svm_unmap(block) == DYNSEL_OK, "dynsel_svm_unmap");
    return block;
}

static void open_device(range_device *d, const dynsel_resource *where)
{
    static const char *const text = by_hand;
    const dynsel_options options = {.resources = where, .count = 1};
    const cl_device_id id = dynsel_opencl_device(where);
    cl_int code = CL_SUCCESS;
    *d = (range_device){.queue = dynsel_opencl_queue(where)};
    report_check(dynsel_fixed_resource_init(&d->policy, &options, 0) == DYNSEL_OK, "init");
    d->program = clCreateProgramWithSource(dynsel_opencl_context(where), 1, (const char **)&text,
                                           NULL, &code);
    report_check(code == CL_SUCCESS &&
                     clBuildProgram(d->program, 1, &id, "", NULL, NULL) == CL_SUCCESS,
                 "the kernels cannot be built");
    d->staging =
        clCreateBuffer(dynsel_opencl_context(where), CL_MEM_READ_WRITE, LARGE_BYTES, NULL, &code);
    report_check(code == CL_SUCCESS, "clCreateBuffer");
    d->data = share(where, COUNT + FIRST);
    d->map = share(where, COUNT);
    d->results = share(where, COUNT);
}

static void close_device(range_device *d)
{
    report_check(dynsel_svm_free(d->data) == DYNSEL_OK && dynsel_svm_free(d->map) == DYNSEL_OK &&
                     dynsel_svm_free(d->results) == DYNSEL_OK,
                 "dynsel_svm_free");
    report_check(dynsel_policy_deinit(&d->policy.policy) == DYNSEL_OK, "deinit");
    (void)clReleaseMemObject(d->staging);
    (void)clReleaseProgram(d->program);
}

/* Checks the results, or resets them. */
static void visit(const range_device *d, const range_case *c, uint32_t runs)
{
    uint32_t *const words = c->staged ? host_words : d->results;
    uint32_t wrong = 0;
    report_check(c->staged || dynsel_svm_map(words, DYNSEL_ACCESS_READ_WRITE) == DYNSEL_OK, "map");
    for (uint32_t i = 0; i < COUNT; i++) {
        if (runs == 0) {
            words[i] = c->expected(d, i, 0);
        }
        wrong += words[i] != c->expected(d, i, runs);
    }
    report_check(c->staged || dynsel_svm_unmap(words) == DYNSEL_OK, "unmap");
    report_check(wrong == 0, "a wrong result");
}

/* The length of `pthread` in PoCL's name `pthread-skylake-...`. */
static int kind_length(const char *name)
{
    const size_t length = strcspn(name, "-");
    return length < 10 ? (int)length : 10;
}

static double time_group(range_device *d, const range_case *c)
{
    const uint64_t began = measure_now_ns();
    report_check(dynsel_submit_command_group_and_wait(&d->policy.policy, c->group, d) == DYNSEL_OK,
                 "a range");
    return (double)(measure_now_ns() - began) / MIB;
}

static double time_by_hand(range_device *d, const range_case *c, cl_kernel kernel)
{
    const uint64_t began = measure_now_ns();
    report_check(c->by_hand(d, kernel), "OpenCL by hand");
    return (double)(measure_now_ns() - began) / MIB;
}

/* What other programs do to a kernel of some milliseconds only makes it longer. */
static double least(const double *values, unsigned count)
{
    double found = values[0];
    for (unsigned i = 1; i < count; i++) {
        found = values[i] < found ? values[i] : found;
    }
    return found;
}

/* Both ways in turn and back, so that noise hits each, and each comes first as often as last.
 * Returns the time of the range. */
static double measure(range_device *d, const range_case *c, const char *name, unsigned times)
{
    static double hand[MEASURE_MAX_SAMPLES];
    static double range[MEASURE_MAX_SAMPLES];
    char subject[64];
    cl_int code = CL_SUCCESS;
    const cl_kernel kernel = clCreateKernel(d->program, c->kernel, &code);
    report_check(code == CL_SUCCESS, "clCreateKernel");
    visit(d, c, 0);
    (void)time_by_hand(d, c, kernel); /* the kernels may be compiled now */
    (void)time_group(d, c);
    for (unsigned i = 0; i < times; i++) {
        if (i % 2 == 0) {
            hand[i] = time_by_hand(d, c, kernel);
        }
        range[i] = time_group(d, c);
        if (i % 2 != 0) {
            hand[i] = time_by_hand(d, c, kernel);
        }
    }
    visit(d, c, 2 * (times + 1));
    (void)clReleaseKernel(kernel);
    const double reference = least(hand, times);
    const double measured = least(range, times);
    (void)snprintf(subject, sizeof subject, "%.*s, %s", kind_length(name), name, c->name);
    report_add(&(report_row){.table = "ranges",
                             .subject = subject,
                             .resources = 1,
                             .threads = 1,
                             .reference = reference,
                             .measured = measured,
                             .overlap = -1,
                             .limit = reference * c->most_times_hand});
    return measured;
}

static void measure_device(const dynsel_resource *where, unsigned repetitions)
{
    const unsigned times =
        3 * repetitions < MEASURE_MAX_SAMPLES ? 3 * repetitions : (unsigned)MEASURE_MAX_SAMPLES;
    double ns[CASES];
    char text[64];
    const char *name = dynsel_resource_name(where);
    open_device(&the_device, where);
    for (unsigned i = 0; i < CASES; i++) {
        ns[i] = measure(&the_device, &cases[i], name, times);
    }
    close_device(&the_device);
    (void)snprintf(text, sizeof text, "%.*s, direct", kind_length(name), name);
    report_fact(text, ns[1] < ns[0] ? "takes less time than staged" : "takes no less than staged",
                ns[1] < ns[0]);
}

static bool shares_svm(const dynsel_resource *where)
{
    cl_ulong kinds = 0;
    return clGetDeviceInfo(dynsel_opencl_device(where), CL_DEVICE_SVM_CAPABILITIES, sizeof kinds,
                           &kinds, NULL) == CL_SUCCESS &&
           kinds != 0;
}

void bench_ranges(unsigned repetitions)
{
    size_t count = 0;
    const dynsel_resource *const resources = bench_devices(BENCH_MOST_DEVICES, &count);
    char title[400];
    if (count == 0) {
        return;
    }
    (void)snprintf(title, sizeof title,
                   "One of %d MiB that a kernel works on through a range of iterators, until it is "
                   "complete: staged,\npassed directly, and transformed through a permutation with "
                   "a counting iterator. By hand: with\nplain pointers, on the same memory. The "
                   "fastest\nsamples count; the budget is 5 %% more.",
                   MIB);
    report_table(title, "hand ns");
    for (size_t i = 0; i < count; i++) {
        const char *name = dynsel_resource_name(&resources[i]);
        if (shares_svm(&resources[i])) {
            measure_device(&resources[i], repetitions);
        } else {
            report_nothing(name, 1, 1, "it shares no memory with the host");
        }
    }
}
