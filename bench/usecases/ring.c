/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "ring.h"

#include <time.h>

#include "../measure.h"
#include "kernels.h"
#include "random.h"
#include "say.h"

enum {
    NAP_NS = 20000,
    TRIAL_OPERATIONS = 64,
    TRIALS = 5,
    TRIAL_NS = 20000000,
    SCRAMBLE = 1,
    RING_LOCAL = 64
};

static const usecase_kernel *const kernel = &usecase_kernels[SCRAMBLE];

static const char add[] =
    "kernel void add(global const unsigned *in, global unsigned *sums, unsigned operations)"
    "{ size_t i = get_global_id(0); sums[i] += scramble_of(in[i], operations); }";

static ring_lane *lane_of(ring *self, const dynsel_resource *where)
{
    ring_lane *lane = self->lanes;
    while (lane->where.handle != where->handle) {
        lane++;
    }
    return lane;
}

/* A worker does one piece at a time, so nobody else adds to its sums. */
static dynsel_status on_host(const dynsel_resource *where, void *args, dynsel_event *done)
{
    ring *self = args;
    ring_lane *lane = lane_of(self, where);
    (void)done;
    kernel->reference(self->in, lane->scratch, RING_ELEMENTS, self->operations);
    for (uint32_t i = 0; i < RING_ELEMENTS; i++) {
        lane->sums[i] += lane->scratch[i];
    }
    return DYNSEL_OK;
}

static dynsel_status on_device(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const size_t global = RING_ELEMENTS;
    const size_t local = RING_LOCAL;
    const ring_lane *lane = lane_of(args, where);
    return dynsel_opencl_check("clEnqueueNDRangeKernel",
                               clEnqueueNDRangeKernel(dynsel_opencl_queue(where), lane->kernel, 1,
                                                      NULL, &global, &local, 0, NULL,
                                                      &done->opencl));
}

static cl_mem make_memory(cl_context context, void *data, cl_int *code)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          RING_ELEMENTS * sizeof(uint32_t), data, code);
}

static cl_int open_device(ring_lane *lane, ring *self)
{
    const char *const sources[] = {kernel->kernel.source, add};
    const cl_device_id device = dynsel_opencl_device(&lane->where);
    cl_context context = dynsel_opencl_context(&lane->where);
    cl_int code = CL_SUCCESS;
    say_must(context != NULL, "the device cannot be opened");
    lane->program = clCreateProgramWithSource(context, 2, (const char **)sources, NULL, &code);
    code = code == CL_SUCCESS ? clBuildProgram(lane->program, 1, &device, "", NULL, NULL) : code;
    lane->kernel = code == CL_SUCCESS ? clCreateKernel(lane->program, "add", &code) : NULL;
    lane->in = code == CL_SUCCESS ? make_memory(context, self->in, &code) : NULL;
    lane->out = code == CL_SUCCESS ? make_memory(context, lane->sums, &code) : NULL;
    if (code != CL_SUCCESS) {
        return code;
    }
    code = clSetKernelArg(lane->kernel, 0, sizeof(cl_mem), (const void *)&lane->in);
    code = code == CL_SUCCESS
               ? clSetKernelArg(lane->kernel, 1, sizeof(cl_mem), (const void *)&lane->out)
               : code;
    return code == CL_SUCCESS
               ? clSetKernelArg(lane->kernel, 2, sizeof self->operations, &self->operations)
               : code;
}

void ring_open(ring *self, const resources *r, uint32_t count, uint32_t operations, uint64_t seed)
{
    *self =
        (ring){.count = count, .limit = count, .operations = operations, .lane_count = r->count};
    for (uint32_t i = 0; i < RING_ELEMENTS; i++) {
        self->in[i] = (uint32_t)random_next(&seed);
    }
    kernel->reference(self->in, self->expected, RING_ELEMENTS, operations);
    for (size_t i = 0; i < r->count; i++) {
        self->lanes[i].where = r->table[i];
        if (r->table[i].backend == &dynsel_opencl_backend) {
            say_must(dynsel_opencl_check("making kernel and memory",
                                         open_device(&self->lanes[i], self)) == DYNSEL_OK,
                     r->names[i]);
        }
    }
}

void ring_limit(ring *self, size_t devices)
{
    const size_t wanted = devices * RING_DEPTH;
    self->limit = wanted < self->count ? (uint32_t)wanted : self->count;
}

/* Whether the slot has no work any more. */
static bool is_free(ring *self, ring_slot *slot, uint64_t wait_ns, const resources *r)
{
    if (!slot->is_out) {
        return true;
    }
    const dynsel_status status = dynsel_wait_for(&slot->submission, wait_ns);
    if (status == DYNSEL_E_TIMEOUT) {
        return false;
    }
    slot->is_out = false;
    say_must(status == DYNSEL_OK, r->names[slot->submission.index]);
    self->by_resource[slot->submission.index]++;
    self->lanes[slot->submission.index].done++;
    self->done++;
    return true;
}

static void start(ring *self, ring_slot *slot, dynsel_policy *policy)
{
    static const dynsel_task_form forms[] = {{&dynsel_opencl_backend, on_device}, {NULL, on_host}};
    const dynsel_task task = {.forms = forms, .form_count = 2, .args = self, .id = 1};
    say_must(dynsel_submit(policy, &task, &slot->submission) == DYNSEL_OK, "dynsel_submit");
    slot->is_out = true;
}

void ring_keep_busy(ring *self, dynsel_policy *policy, const resources *r, double seconds)
{
    const uint64_t began = measure_now_ns();
    while ((double)(measure_now_ns() - began) < seconds * 1e9) {
        uint32_t started = 0;
        for (uint32_t i = 0; i < self->limit; i++) {
            if (is_free(self, &self->slots[i], 0, r)) {
                start(self, &self->slots[i], policy);
                started++;
            }
        }
        if (started == 0) {
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        }
    }
}

void ring_finish(ring *self, const resources *r)
{
    for (uint32_t i = 0; i < self->count; i++) {
        (void)is_free(self, &self->slots[i], UINT64_MAX, r);
    }
}

static void close_device(ring_lane *lane, const char *name)
{
    say_must(dynsel_opencl_check("clEnqueueReadBuffer",
                                 clEnqueueReadBuffer(dynsel_opencl_queue(&lane->where), lane->out,
                                                     CL_TRUE, 0, sizeof lane->sums, lane->sums, 0,
                                                     NULL, NULL)) == DYNSEL_OK,
             name);
    (void)clReleaseMemObject(lane->in);
    (void)clReleaseMemObject(lane->out);
    (void)clReleaseKernel(lane->kernel);
    (void)clReleaseProgram(lane->program);
}

void ring_close(ring *self, const resources *r)
{
    for (size_t i = 0; i < self->lane_count; i++) {
        ring_lane *lane = &self->lanes[i];
        if (lane->program != NULL) {
            close_device(lane, r->names[i]);
        }
        for (uint32_t k = 0; k < RING_ELEMENTS; k++) {
            if (lane->sums[k] != (uint32_t)lane->done * self->expected[k]) {
                say_end(SAY_FAILED,
                        "a wrong result: %s, %d elements, on %s, among %llu pieces of work",
                        kernel->kernel.name, RING_ELEMENTS, r->names[i],
                        (unsigned long long)lane->done);
            }
        }
    }
}

static double time_one(ring *self, dynsel_policy *policy, const resources *r)
{
    double best = 0;
    for (int i = 0; i < TRIALS; i++) {
        const uint64_t began = measure_now_ns();
        start(self, &self->slots[0], policy);
        ring_finish(self, r);
        const double ns = (double)(measure_now_ns() - began);
        best = i == 1 || ns < best ? ns : best; /* the first may compile */
    }
    return best;
}

uint32_t ring_calibrate(const resources *r, double ns, uint64_t seed)
{
    static ring trial;
    static dynsel_fixed_resource_policy policies[RESOURCES_MOST];
    const dynsel_options options = {.resources = r->table, .count = r->count};
    uint32_t operations = TRIAL_OPERATIONS;
    for (size_t i = r->count; i-- > 0;) { /* the others have compiled by then */
        say_must(dynsel_fixed_resource_init(&policies[i], &options, i) == DYNSEL_OK, r->names[i]);
        ring_open(&trial, r, 1, operations, seed);
        (void)time_one(&trial, &policies[i].policy, r);
        ring_close(&trial, r);
    }
    double base = 0;
    double took = 0;
    do {
        ring_open(&trial, r, 1, operations, seed);
        took = time_one(&trial, &policies[0].policy, r);
        ring_close(&trial, r);
        base = base > 0 ? base : took;
        operations *= 4;
    } while (took < TRIAL_NS && took < ns * 4 && operations < (1u << 26));
    operations /= 4;
    for (size_t i = 0; i < r->count; i++) {
        say_must(dynsel_policy_deinit(&policies[i].policy) == DYNSEL_OK, "deinit");
    }
    const double each = (took - base) / (operations - TRIAL_OPERATIONS);
    const double wanted = each > 0 ? (ns - base) / each : TRIAL_OPERATIONS;
    return wanted > 1 ? TRIAL_OPERATIONS + (uint32_t)wanted : TRIAL_OPERATIONS;
}
