/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chains of bench/groups.c through StarPU: 1,000 small tasks on one piece of data, and on
 * several in turn. Prints `starpu <driver> <what> <ns>` for each. `scons bench` builds and runs
 * this where pkg-config finds starpu-1.3; STARPU_OPENCL_ON_CPUS=1 lets it take PoCL.
 */
#define _POSIX_C_SOURCE          200809L
#define CL_TARGET_OPENCL_VERSION 120

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <starpu.h>

enum { TASKS = 1000, BUFFERS = 16, REPETITIONS = 15 };

static uint32_t data[BUFFERS];
static uint32_t numbers[TASKS];
static starpu_data_handle_t handles[BUFFERS];

static void advance_on_cpu(void *buffers[], void *argument)
{
    uint32_t *x = (uint32_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    x[0] = x[0] * 3 + *(const uint32_t *)argument;
}

#ifdef STARPU_USE_OPENCL
static struct starpu_opencl_program program;

static void must(cl_int code)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "starpu peer: OpenCL error %d\n", code);
        exit(1);
    }
}

static void advance_on_opencl(void *buffers[], void *argument)
{
    const size_t one = 1;
    const int worker = starpu_worker_get_id();
    cl_mem x = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
    cl_kernel kernel;
    cl_command_queue queue;
    cl_event event;
    must(starpu_opencl_load_kernel(&kernel, &queue, &program, "advance",
                                   starpu_worker_get_devid(worker)));
    must(clSetKernelArg(kernel, 0, sizeof x, &x));
    must(clSetKernelArg(kernel, 1, sizeof(uint32_t), argument));
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, &event));
    must(starpu_opencl_collect_stats(event));
    must(clReleaseEvent(event));
    must(starpu_opencl_release_kernel(kernel));
}
#endif

static struct starpu_codelet codelet = {
    .cpu_funcs = {advance_on_cpu},
#ifdef STARPU_USE_OPENCL
    .opencl_funcs = {advance_on_opencl},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
#endif
    .nbuffers = 1,
    .modes = {STARPU_RW},
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double run(unsigned width)
{
    const double began = now_ns();
    for (unsigned i = 0; i < TASKS; i++) {
        struct starpu_task *task = starpu_task_create();
        task->cl = &codelet;
        task->handles[0] = handles[i % width];
        task->cl_arg = &numbers[i];
        task->cl_arg_size = sizeof numbers[i];
        if (starpu_task_submit(task) != 0) {
            fprintf(stderr, "starpu peer: no worker takes the task\n");
            exit(1);
        }
    }
    starpu_task_wait_for_all();
    return (now_ns() - began) / TASKS;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* What plain C makes of the first piece of data in so many runs. */
static uint32_t expected(unsigned width)
{
    uint32_t x = 0;
    for (unsigned run = 0; run <= REPETITIONS; run++) {
        for (unsigned i = 0; i < TASKS; i += width) {
            x = x * 3 + i;
        }
    }
    return x;
}

static void measure(const char *driver, const char *what, unsigned width)
{
    double ns[REPETITIONS];
    for (unsigned i = 0; i < width; i++) {
        data[i] = 0;
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&data[i], 1,
                                    sizeof data[i]);
    }
    (void)run(width);
    for (unsigned i = 0; i < REPETITIONS; i++) {
        ns[i] = run(width);
    }
    for (unsigned i = 0; i < width; i++) {
        starpu_data_unregister(handles[i]);
    }
    if (data[0] != expected(width)) {
        fprintf(stderr, "starpu peer: a wrong result\n");
        exit(1);
    }
    qsort(ns, REPETITIONS, sizeof ns[0], compare);
    printf("starpu %s %s %.1f\n", driver, what, ns[REPETITIONS / 2]);
}

int main(void)
{
    if (starpu_init(NULL) != 0) {
        fprintf(stderr, "starpu peer: starpu_init failed\n");
        return 1;
    }
    for (unsigned i = 0; i < TASKS; i++) {
        numbers[i] = i;
    }
    const char *driver = starpu_opencl_worker_get_count() > 0 ? "opencl" : "cpu";
#ifdef STARPU_USE_OPENCL
    if (starpu_opencl_worker_get_count() > 0) {
        must(starpu_opencl_load_opencl_from_string(
            "kernel void advance(global uint *x, uint i) { x[0] = x[0] * 3 + i; }", &program,
            NULL));
    }
#endif
    measure(driver, "chain", 1);
    measure(driver, "independent", BUFFERS);
    starpu_shutdown();
    return 0;
}
