/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "ring.h"

#include <time.h>

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "kernels.h"
#include "log.h"
#include "mix_kernels.h"
#include "random.h"

enum {
    NAP_NS = 20000,
    TRIAL_OPERATIONS = 64,
    TRIALS = 5,
    TRIAL_NS = 20000000,
    SCRAMBLE = 1,
    RING_LOCAL = 64,
    RING_ID = 1
};

static const dynsel_kernel *const kernel = &usecase_kernels[SCRAMBLE];

static const char add[] =
    "kernel void add(global const unsigned *in, global unsigned *sums, unsigned operations)"
    "{ size_t i = get_global_id(0); sums[i] += scramble_of(in[i], operations); }";

static ring_queue *queue_of(ring *self, const dynsel_resource *where)
{
    ring_queue *queue = self->queues;
    while (queue->where.handle != where->handle) {
        queue++;
    }
    return queue;
}

/* A worker runs one task at a time, so that no other thread adds to its sums. */
static dynsel_status on_host(const dynsel_resource *where, void *args, dynsel_event *done)
{
    ring *self = args;
    ring_queue *queue = queue_of(self, where);
    (void)done;
    mix_scramble(self->in, queue->scratch, RING_ELEMENTS, self->operations);
    for (uint32_t i = 0; i < RING_ELEMENTS; i++) {
        queue->sums[i] += queue->scratch[i];
    }
    return DYNSEL_OK;
}

static dynsel_status on_device(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const size_t global = RING_ELEMENTS;
    const size_t local = RING_LOCAL;
    const ring_queue *queue = queue_of(args, where);
    return dynsel_opencl_check("clEnqueueNDRangeKernel",
                               clEnqueueNDRangeKernel(dynsel_opencl_queue(where), queue->kernel, 1,
                                                      NULL, &global, &local, 0, NULL,
                                                      &done->opencl));
}

static cl_mem make_memory(cl_context context, void *data, cl_int *code)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          RING_ELEMENTS * sizeof(uint32_t), data, code);
}

static cl_int open_device(ring_queue *queue, ring *self)
{
    const char *const sources[] = {kernel->source, add};
    const cl_device_id device = dynsel_opencl_device(&queue->where);
    cl_context context = dynsel_opencl_context(&queue->where);
    cl_int code = CL_SUCCESS;
    log_check(context != NULL, "the device cannot be opened");
    queue->program = clCreateProgramWithSource(context, 2, (const char **)sources, NULL, &code);
    code = code == CL_SUCCESS ? clBuildProgram(queue->program, 1, &device, "", NULL, NULL) : code;
    queue->kernel = code == CL_SUCCESS ? clCreateKernel(queue->program, "add", &code) : NULL;
    queue->in = code == CL_SUCCESS ? make_memory(context, self->in, &code) : NULL;
    queue->out = code == CL_SUCCESS ? make_memory(context, queue->sums, &code) : NULL;
    if (code != CL_SUCCESS) {
        return code;
    }
    code = clSetKernelArg(queue->kernel, 0, sizeof(cl_mem), (const void *)&queue->in);
    code = code == CL_SUCCESS
               ? clSetKernelArg(queue->kernel, 1, sizeof(cl_mem), (const void *)&queue->out)
               : code;
    return code == CL_SUCCESS
               ? clSetKernelArg(queue->kernel, 2, sizeof self->operations, &self->operations)
               : code;
}

void ring_open(ring *self, const resources *r, uint32_t count, uint32_t operations, uint64_t seed)
{
    *self =
        (ring){.count = count, .limit = count, .operations = operations, .queue_count = r->count};
    for (uint32_t i = 0; i < RING_ELEMENTS; i++) {
        self->in[i] = (uint32_t)random_next(&seed);
    }
    mix_scramble(self->in, self->expected, RING_ELEMENTS, operations);
    trace_file_name(&(dynsel_task){.function = on_host, .id = RING_ID}, kernel->name);
    for (size_t i = 0; i < r->count; i++) {
        self->queues[i].where = r->table[i];
        if (r->table[i].backend == &dynsel_opencl_backend) {
            log_check(dynsel_opencl_check("making kernel and memory",
                                          open_device(&self->queues[i], self)) == DYNSEL_OK,
                      r->names[i]);
        }
    }
}

void ring_limit(ring *self, size_t devices)
{
    const size_t wanted = devices * RING_DEPTH;
    self->limit = wanted < self->count ? (uint32_t)wanted : self->count;
}

/* Whether the slot has no task; collects a complete one. */
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
    log_check(status == DYNSEL_OK, r->names[slot->submission.index]);
    self->by_resource[slot->submission.index]++;
    self->queues[slot->submission.index].done++;
    self->done++;
    return true;
}

static void start(ring *self, ring_slot *slot, dynsel_policy *policy)
{
    static const dynsel_task_form forms[] = {{&dynsel_opencl_backend, on_device}, {NULL, on_host}};
    const dynsel_task task = {.forms = forms, .form_count = 2, .args = self, .id = RING_ID};
    log_check(dynsel_submit(policy, &task, &slot->submission) == DYNSEL_OK, "dynsel_submit");
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

static void close_device(ring_queue *queue, const char *name)
{
    log_check(dynsel_opencl_check("clEnqueueReadBuffer",
                                  clEnqueueReadBuffer(dynsel_opencl_queue(&queue->where),
                                                      queue->out, CL_TRUE, 0, sizeof queue->sums,
                                                      queue->sums, 0, NULL, NULL)) == DYNSEL_OK,
              name);
    (void)clReleaseMemObject(queue->in);
    (void)clReleaseMemObject(queue->out);
    (void)clReleaseKernel(queue->kernel);
    (void)clReleaseProgram(queue->program);
}

void ring_close(ring *self, const resources *r)
{
    for (size_t i = 0; i < self->queue_count; i++) {
        ring_queue *queue = &self->queues[i];
        if (queue->program != NULL) {
            close_device(queue, r->names[i]);
        }
        for (uint32_t k = 0; k < RING_ELEMENTS; k++) {
            if (queue->sums[k] != (uint32_t)queue->done * self->expected[k]) {
                log_exit(STATUS_FAILED, "a wrong result: %s, %d elements, on %s, among %llu tasks",
                         kernel->name, RING_ELEMENTS, r->names[i], (unsigned long long)queue->done);
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
        log_check(dynsel_fixed_resource_init(&policies[i], &options, i) == DYNSEL_OK, r->names[i]);
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
        log_check(dynsel_policy_deinit(&policies[i].policy) == DYNSEL_OK, "deinit");
    }
    const double each = (took - base) / (operations - TRIAL_OPERATIONS);
    const double wanted = each > 0 ? (ns - base) / each : TRIAL_OPERATIONS;
    return wanted > 1 ? TRIAL_OPERATIONS + (uint32_t)wanted : TRIAL_OPERATIONS;
}
