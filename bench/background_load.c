/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_setaffinity_np() */

#include "background_load.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "measure.h"
#include "report.h"

enum { MOST_SPINNERS = 1024, WORK_NS = 300000 };

static pthread_t threads[MOST_SPINNERS];
static int processors[MOST_SPINNERS];
static size_t thread_count;
static atomic_bool stopping;
static char description[128];

const char *background_load_name(background_load load)
{
    static const char *const names[LOADS] = {"at rest", "busy CPUs", "other work"};
    return names[load];
}

static void start_thread(void *(*run)(void *), void *argument)
{
    report_check(pthread_create(&threads[thread_count], NULL, run, argument) == 0,
                 "no thread can be started; raise the limit (ulimit -u)");
    thread_count++;
}

static void *spin(void *processor)
{
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET((size_t) * (const int *)processor, &own);
    (void)pthread_setaffinity_np(pthread_self(), sizeof own, &own);
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
    }
    return NULL;
}

static const char *start_spinners(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return NULL;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE && thread_count < MOST_SPINNERS; cpu++) {
        if (CPU_ISSET((size_t)cpu, &allowed)) {
            processors[thread_count] = cpu;
            start_thread(spin, &processors[thread_count]);
        }
    }
    (void)snprintf(description, sizeof description, "%zu threads that spin", thread_count);
    return description;
}

/* Where other work can be submitted from a thread of its own. */
#if CONFIG_DYNSEL_CONTEXT_THREADS

/* All resources in turn. */
typedef struct turn_policy {
    dynsel_policy policy; /* must be first */
    unsigned next;        /* used by one thread */
} turn_policy;

static turn_policy turns;
static dynsel_task_fn work;

/* Of the other device. */
static cl_program program;
static cl_kernel kernel;
static cl_mem memory;
static size_t items;

static dynsel_status select_in_turn(dynsel_policy *policy, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    turn_policy *const p = (turn_policy *)(void *)policy;
    selection->index = p->next++ % policy->count;
    return dynsel_policy_may_use(policy, selection->index, task)
               ? DYNSEL_OK
               : dynsel_policy_refuse(policy, task);
}

static const dynsel_policy_ops turn_ops = {.name = "turns", .try_select = select_in_turn};

/* Keeps some work in flight, and leaves most slots to the work that is measured. */
static void *submit_work(void *unused)
{
    enum { MOST = CONFIG_DYNSEL_MAX_IN_FLIGHT < 32 ? 1 : 8 };
    dynsel_submission submissions[MOST];
    size_t count = 0;
    (void)unused;
    for (; !atomic_load(&stopping); count++) {
        dynsel_submission *const oldest = &submissions[count % MOST];
        report_check((count < MOST || dynsel_wait(oldest) == DYNSEL_OK) &&
                         dynsel_submit(&turns.policy, &DYNSEL_TASK(work, NULL), oldest) ==
                             DYNSEL_OK,
                     "other work");
    }
    for (size_t i = 0; i < MOST && i < count; i++) {
        report_check(dynsel_wait(&submissions[i]) == DYNSEL_OK, "other work");
    }
    return NULL;
}

static dynsel_status enqueue_work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    static const size_t local = 64;
    (void)args;
    return dynsel_opencl_check("clEnqueueNDRangeKernel",
                               clEnqueueNDRangeKernel(dynsel_opencl_queue(where), kernel, 1, NULL,
                                                      &items, &local, 0, NULL, &done->opencl));
}

/* Kernels that use all of the device for about a millisecond each. */
static void open_other_device(const dynsel_resource *other)
{
    enum { ITEMS_PER_UNIT = 256 };
    static const char *const source =
        "kernel void keep_busy(global uint *x) {"
        " uint v = (uint)get_global_id(0) | 1;"
        " for (uint k = 0; k < 20000; k++) { v ^= v << 13; v ^= v >> 17; v ^= v << 5; }"
        " x[get_global_id(0)] = v; }";
    const cl_device_id id = dynsel_opencl_device(other);
    cl_uint units = 1;
    cl_int code = CL_SUCCESS;
    (void)clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    items = (size_t)ITEMS_PER_UNIT * units;
    program = dynsel_opencl_program(other, source);
    report_check(program != NULL && clBuildProgram(program, 1, &id, "", NULL, NULL) == CL_SUCCESS,
                 "the kernel of the other work cannot be built");
    kernel = clCreateKernel(program, "keep_busy", &code);
    report_check(code == CL_SUCCESS, "clCreateKernel");
    memory = clCreateBuffer(dynsel_opencl_context(other), CL_MEM_READ_WRITE,
                            items * sizeof(cl_uint), NULL, &code);
    report_check(code == CL_SUCCESS &&
                     clSetKernelArg(kernel, 0, sizeof(cl_mem), (const void *)&memory) == CL_SUCCESS,
                 "clCreateBuffer");
    work = enqueue_work;
}

static bool find_other_device(const char *selector, const dynsel_resource *measured,
                              dynsel_resource *other)
{
    static dynsel_resource found[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    size_t count = 0;
    if (dynsel_opencl_select(selector, found, CONFIG_DYNSEL_OPENCL_MAX_DEVICES, &count) !=
        DYNSEL_OK) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (found[i].handle != measured->handle && dynsel_opencl_queue(&found[i]) != NULL) {
            *other = found[i];
            return true;
        }
    }
    return false;
}

#if CONFIG_DYNSEL_BACKEND_THREADS

static dynsel_status work_in_worker(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const uint64_t began = measure_now_ns();
    (void)where;
    (void)args;
    (void)done;
    while (measure_now_ns() - began < WORK_NS) {
    }
    return DYNSEL_OK;
}

enum { MOST_WORKERS = 4 };

static dynsel_resource workers[MOST_WORKERS];

static size_t start_workers(void)
{
    const size_t wanted =
        CONFIG_DYNSEL_THREADS_WORKERS < MOST_WORKERS ? CONFIG_DYNSEL_THREADS_WORKERS : MOST_WORKERS;
    size_t count = 0;
    report_check(dynsel_threads_start(wanted) == DYNSEL_OK &&
                     dynsel_threads_resources(workers, MOST_WORKERS, &count) == DYNSEL_OK,
                 "dynsel_threads_start");
    count = count < CONFIG_DYNSEL_MAX_RESOURCES ? count : CONFIG_DYNSEL_MAX_RESOURCES;
    work = work_in_worker;
    (void)snprintf(description, sizeof description, "work on %zu host workers", count);
    return count;
}

static void stop_workers(void)
{
    if (work == work_in_worker) {
        report_check(dynsel_threads_stop() == DYNSEL_OK, "dynsel_threads_stop");
    }
}

#else

static dynsel_resource workers[1];

static size_t start_workers(void)
{
    return 0;
}

static void stop_workers(void)
{
}

#endif

static const char *start_other_work(const dynsel_resource *measured)
{
    dynsel_resource other;
    dynsel_options options = {.resources = workers};
    /* A CPU first: its work needs the processors that the measured device's driver needs, too. */
    if (find_other_device("cpu", measured, &other) || find_other_device("all", measured, &other)) {
        open_other_device(&other);
        options = (dynsel_options){.resources = &other, .count = 1};
        (void)snprintf(description, sizeof description, "work on %.100s",
                       dynsel_resource_name(&other));
    } else {
        options.count = start_workers();
    }
    if (options.count == 0) {
        return NULL;
    }
    report_check(dynsel_policy_init(&turns.policy, &turn_ops, &options) == DYNSEL_OK, "init");
    start_thread(submit_work, NULL);
    return description;
}

static void end_other_work(void)
{
    if (work == NULL) {
        return;
    }
    report_check(dynsel_policy_deinit(&turns.policy) == DYNSEL_OK, "deinit");
    stop_workers();
    if (work == enqueue_work) {
        (void)clReleaseMemObject(memory);
        (void)clReleaseKernel(kernel);
        (void)clReleaseProgram(program);
    }
    work = NULL;
}

#else

static const char *start_other_work(const dynsel_resource *measured)
{
    (void)measured;
    return NULL;
}

static void end_other_work(void)
{
}

#endif

const char *background_load_start(background_load load, const dynsel_resource *measured)
{
    atomic_store(&stopping, false);
    if (load == LOAD_NONE) {
        return "nothing else";
    }
    return load == LOAD_PROCESSORS ? start_spinners() : start_other_work(measured);
}

void background_load_stop(void)
{
    atomic_store(&stopping, true);
    for (size_t i = 0; i < thread_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    thread_count = 0;
    end_other_work();
}
