/* SPDX-License-Identifier: Apache-2.0 */
#include "timed_work.h"

#include "measure.h"
#include "report.h"

/* The loop cannot be shortened by a compiler. Behind the data, each work-item counts its runs. */
#define SOURCE                                                                                     \
    "kernel void spin(global uint *x, uint steps) {"                                               \
    " const size_t i = get_global_id(0);"                                                          \
    " uint v = x[i] | 1;"                                                                          \
    " for (uint k = 0; k < steps; k++) { v ^= v << 13; v ^= v >> 17; v ^= v << 5; }"               \
    " x[i] = v; x[1024 + i] += 1; }"

_Static_assert(TIMED_DATA_WORDS == 1024, "the kernel's count is behind the data");

static cl_event firsts[TIMED_MOST_IN_STREAM];
static cl_event lasts[TIMED_MOST_IN_STREAM];

const char *timed_kind_name(timed_kind kind)
{
    static const char *const names[TIMED_KINDS] = {"group", "task", "task+copies"};
    return names[kind];
}

static cl_int enqueue_kernel(const timed_device *d, cl_command_queue queue, cl_event *done)
{
    const size_t items = TIMED_ITEMS;
    return clEnqueueNDRangeKernel(queue, d->kernel, 1, NULL, &items, &items, 0, NULL, done);
}

/* first: the event of the first command, where the work has several. */
static cl_int enqueue(timed_device *d, cl_command_queue queue, cl_event *first, cl_event *last)
{
    d->runs[0]++;
    if (d->kind != TIMED_TASK_COPIES) {
        return enqueue_kernel(d, queue, last);
    }
    cl_int code = clEnqueueWriteBuffer(queue, d->memory, CL_FALSE, 0, sizeof d->from, d->from, 0,
                                       NULL, first);
    code = code == CL_SUCCESS ? enqueue_kernel(d, queue, NULL) : code;
    return code == CL_SUCCESS ? clEnqueueReadBuffer(queue, d->memory, CL_FALSE, 0, sizeof d->to,
                                                    d->to, 0, NULL, last)
                              : code;
}

static dynsel_status enqueue_task(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const cl_int code = enqueue(args, dynsel_opencl_queue(where), NULL, &done->opencl);
    return code == CL_SUCCESS ? DYNSEL_OK : dynsel_opencl_check("clEnqueue", code);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

bool timed_kind_exists(timed_kind kind)
{
    (void)kind;
    return true;
}

static const dynsel_kernel spin = {.name = "spin", .source = SOURCE};

static dynsel_status launch(dynsel_handler *handler, void *args)
{
    const timed_device *const d = args;
    dynsel_require(handler, &d->data);
    dynsel_set_arg_accessor(handler, 0, &d->data);
    dynsel_set_arg_value(handler, 1, &d->steps, sizeof d->steps);
    return dynsel_parallel_for(handler, &spin, DYNSEL_RANGE(TIMED_ITEMS),
                               &DYNSEL_RANGE(TIMED_ITEMS), NULL);
}

static dynsel_status submit_group(timed_device *d, dynsel_submission *submission)
{
    d->runs[1]++;
    return dynsel_submit_command_group(&d->policy->policy, launch, d, submission);
}

static void open_buffer(timed_device *d)
{
    report_check(dynsel_buffer_init(&d->buffer, d->words, sizeof d->words[0],
                                    DYNSEL_RANGE(sizeof d->words / sizeof d->words[0])) ==
                     DYNSEL_OK,
                 "dynsel_buffer_init");
    d->data = (dynsel_accessor){.name = "data", .buffer = d->buffer, .placeholder = true};
}

/* The end of a buffer brings its contents to the host. */
static void close_buffer(timed_device *d)
{
    report_check(dynsel_buffer_deinit(&d->buffer) == DYNSEL_OK, "deinit");
    report_check(d->words[TIMED_DATA_WORDS] == d->runs[1], "a wrong number of command groups");
}

#else

bool timed_kind_exists(timed_kind kind)
{
    return kind != TIMED_GROUP;
}

static dynsel_status submit_group(timed_device *d, dynsel_submission *submission)
{
    (void)d;
    (void)submission;
    return DYNSEL_E_UNSUPPORTED;
}

static void open_buffer(timed_device *d)
{
    (void)d;
}

static void close_buffer(timed_device *d)
{
    (void)d;
}

#endif

static dynsel_status submit(timed_device *d, dynsel_submission *submission)
{
    if (d->kind == TIMED_GROUP) {
        return submit_group(d, submission);
    }
    return dynsel_submit(&d->policy->policy, &DYNSEL_TASK(enqueue_task, d), submission);
}

void timed_run_one(timed_device *d)
{
    dynsel_submission submission;
    report_check(submit(d, &submission) == DYNSEL_OK && dynsel_wait(&submission) == DYNSEL_OK,
                 "one piece of work");
}

double timed_run_stream(timed_device *d, unsigned count)
{
    const uint64_t began = measure_now_ns();
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        good = submit(d, NULL) == DYNSEL_OK && good;
    }
    good = dynsel_wait_group(dynsel_get_submission_group(&d->policy->policy)) == DYNSEL_OK && good;
    report_check(good, "a stream of work");
    return (double)(measure_now_ns() - began) / count;
}

double timed_run_by_hand(timed_device *d, unsigned count)
{
    static const double MOST_IN_ENQUEUES = 0.9; /* of the time; more: the device waited for some */
    const uint64_t began = measure_now_ns();
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        good = enqueue(d, d->plain, NULL, NULL) == CL_SUCCESS && good;
    }
    good = clFlush(d->plain) == CL_SUCCESS && good;
    const uint64_t enqueued = measure_now_ns();
    good = clFinish(d->plain) == CL_SUCCESS && good;
    const uint64_t ended = measure_now_ns();
    report_check(good, "OpenCL by hand");
    return (double)(enqueued - began) < MOST_IN_ENQUEUES * (double)(ended - began)
               ? (double)(ended - began) / count
               : 0;
}

static bool read_profile(cl_event event, cl_profiling_info what, cl_ulong *ns)
{
    return clGetEventProfilingInfo(event, what, sizeof *ns, ns, NULL) == CL_SUCCESS;
}

void timed_profile(timed_device *d, unsigned count, double *ns, double *whole)
{
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        firsts[i] = NULL;
        good = enqueue(d, d->profiling, &firsts[i], &lasts[i]) == CL_SUCCESS && good;
    }
    good = clFlush(d->profiling) == CL_SUCCESS && good;
    report_check(good && clWaitForEvents(1, &lasts[count - 1]) == CL_SUCCESS, "profiling by hand");
    for (unsigned i = 0; i < count; i++) {
        cl_ulong queued = 0, start = 0, end = 0;
        const cl_event first = firsts[i] != NULL ? firsts[i] : lasts[i];
        good = read_profile(first, CL_PROFILING_COMMAND_QUEUED, &queued) &&
               read_profile(first, CL_PROFILING_COMMAND_START, &start) &&
               read_profile(lasts[i], CL_PROFILING_COMMAND_END, &end) && good;
        ns[i] = end > start ? (double)(end - start) : 0;
        if (whole != NULL) {
            whole[i] = end > queued ? (double)(end - queued) : 0;
        }
        good = (firsts[i] == NULL || clReleaseEvent(firsts[i]) == CL_SUCCESS) &&
               clReleaseEvent(lasts[i]) == CL_SUCCESS && good;
    }
    report_check(good, "clGetEventProfilingInfo");
}

void timed_set(timed_device *d, timed_kind kind, cl_uint steps)
{
    d->kind = kind;
    d->steps = steps;
    report_check(clSetKernelArg(d->kernel, 1, sizeof steps, &steps) == CL_SUCCESS,
                 "clSetKernelArg");
}

/* The time of the kernel in a short stream, in which a device is not idle between. */
static double time_of_kernel(timed_device *d)
{
    enum { COUNT = 32 };
    double ns[COUNT];
    if (d->profiling != NULL) {
        timed_profile(d, COUNT, ns, NULL);
        return measure_median(ns, COUNT);
    }
    const double each = timed_run_by_hand(d, COUNT);
    return each > 0 ? each : 1;
}

/* The kernel's time is the loop's and a constant: each step comes closer. */
cl_uint timed_calibrate(timed_device *d, double ns)
{
    enum { STEPS = 8 };
    static const double MOST = 1e8;
    double steps = 1000;
    for (int i = 0; i < STEPS; i++) {
        timed_set(d, TIMED_TASK, (cl_uint)steps);
        steps *= ns / time_of_kernel(d);
        steps = steps < 1 ? 1 : steps > MOST ? MOST : steps;
    }
    return (cl_uint)steps;
}

/* NULL: the device has none, or does not tell its times. */
static cl_command_queue open_profiling(timed_device *d, cl_context context, cl_device_id id)
{
    cl_command_queue_properties offered = 0;
    cl_int code = clGetDeviceInfo(id, CL_DEVICE_QUEUE_PROPERTIES, sizeof offered, &offered, NULL);
    if (code != CL_SUCCESS || (offered & CL_QUEUE_PROFILING_ENABLE) == 0) {
        return NULL;
    }
    cl_command_queue queue = clCreateCommandQueue(context, id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) {
        return NULL;
    }
    cl_event done = NULL;
    cl_ulong start = 0, end = 0;
    report_check(enqueue(d, queue, NULL, &done) == CL_SUCCESS &&
                     clWaitForEvents(1, &done) == CL_SUCCESS,
                 "the first kernel");
    const bool told = read_profile(done, CL_PROFILING_COMMAND_START, &start) &&
                      read_profile(done, CL_PROFILING_COMMAND_END, &end) && end > start;
    (void)clReleaseEvent(done);
    if (!told) {
        (void)clReleaseCommandQueue(queue);
        queue = NULL;
    }
    return queue;
}

static void build(timed_device *d, cl_context context, cl_device_id id)
{
    cl_int code = CL_SUCCESS;
    d->program = dynsel_opencl_program(d->where, SOURCE);
    report_check(d->program != NULL &&
                     clBuildProgram(d->program, 1, &id, "", NULL, NULL) == CL_SUCCESS,
                 "the kernel cannot be built");
    d->kernel = clCreateKernel(d->program, "spin", &code);
    report_check(code == CL_SUCCESS, "clCreateKernel");
    d->memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof d->words,
                               d->words, &code);
    report_check(code == CL_SUCCESS && clSetKernelArg(d->kernel, 0, sizeof(cl_mem),
                                                      (const void *)&d->memory) == CL_SUCCESS,
                 "clCreateBuffer");
}

void timed_open(timed_device *d, const dynsel_resource *where, sampling_policy *policy)
{
    const cl_context context = dynsel_opencl_context(where);
    const cl_device_id id = dynsel_opencl_device(where);
    cl_int code = CL_SUCCESS;
    *d = (timed_device){.where = where, .policy = policy, .kind = TIMED_TASK};
    report_check(context != NULL, "the device cannot be opened");
    build(d, context, id);
    d->plain = clCreateCommandQueue(context, id, 0, &code);
    report_check(code == CL_SUCCESS, "clCreateCommandQueue");
    timed_set(d, TIMED_TASK, 1000);
    d->profiling = open_profiling(d, context, id);
    open_buffer(d);
}

void timed_close(timed_device *d)
{
    close_buffer(d);
    uint32_t runs = 0;
    report_check(clEnqueueReadBuffer(d->plain, d->memory, CL_TRUE,
                                     TIMED_DATA_WORDS * sizeof(uint32_t), sizeof runs, &runs, 0,
                                     NULL, NULL) == CL_SUCCESS &&
                     runs == d->runs[0],
                 "a wrong number of kernels");
    if (d->profiling != NULL) {
        (void)clReleaseCommandQueue(d->profiling);
    }
    (void)clReleaseCommandQueue(d->plain);
    (void)clReleaseMemObject(d->memory);
    (void)clReleaseKernel(d->kernel);
    (void)clReleaseProgram(d->program);
}
