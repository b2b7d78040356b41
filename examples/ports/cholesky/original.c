/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cholesky's factorization in tiles, with StarPU: each operation is a task that names the tiles it
 * reads and writes, and StarPU keeps the order and chooses the processors. port.c is the same
 * program with dynsel.
 */
#include <starpu.h>
#include <stdio.h>

#include "tiles.h"

static float tiles[TILE_COUNT][TILE_ELEMENTS];
static starpu_data_handle_t handles[TILE_COUNT];
static struct starpu_opencl_program program;

static float *memory_of(void *buffer)
{
    return (float *)STARPU_VECTOR_GET_PTR(buffer);
}

static void factorize_cpu(void *buffers[], void *args)
{
    int *failed = NULL;
    starpu_codelet_unpack_args(args, &failed);
    if (tile_factorize(memory_of(buffers[0])) != 0) {
        *failed = 1;
    }
}

static void solve_cpu(void *buffers[], void *args)
{
    (void)args;
    tile_solve(memory_of(buffers[1]), memory_of(buffers[0]));
}

static void update_cpu(void *buffers[], void *args)
{
    (void)args;
    tile_update(memory_of(buffers[1]), memory_of(buffers[0]));
}

static void multiply_cpu(void *buffers[], void *args)
{
    (void)args;
    tile_multiply(memory_of(buffers[2]), memory_of(buffers[0]), memory_of(buffers[1]));
}

static void multiply_opencl(void *buffers[], void *args)
{
    (void)args;
    const int worker = starpu_worker_get_id_check();
    const int device = starpu_worker_get_devid(worker);
    const size_t global[] = {SIDE, SIDE};
    const int side = SIDE;
    cl_mem a = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
    cl_mem b = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[1]);
    cl_mem c = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[2]);
    cl_kernel kernel;
    cl_command_queue queue;
    cl_int code = starpu_opencl_load_kernel(&kernel, &queue, &program, "multiply", device);
    if (code != CL_SUCCESS) {
        STARPU_OPENCL_REPORT_ERROR(code);
    }
    code = clSetKernelArg(kernel, 0, sizeof c, &c);
    code |= clSetKernelArg(kernel, 1, sizeof a, &a);
    code |= clSetKernelArg(kernel, 2, sizeof b, &b);
    code |= clSetKernelArg(kernel, 3, sizeof side, &side);
    if (code == CL_SUCCESS) {
        code = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL);
    }
    if (code != CL_SUCCESS) {
        STARPU_OPENCL_REPORT_ERROR(code);
    }
    clFinish(queue);
    starpu_opencl_release_kernel(kernel);
}

static struct starpu_perfmodel multiply_model = {.type = STARPU_HISTORY_BASED,
                                                 .symbol = "cholesky_multiply"};

static struct starpu_codelet factorize = {
    .cpu_funcs = {factorize_cpu}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "factorize"};
static struct starpu_codelet solve = {
    .cpu_funcs = {solve_cpu}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "solve"};
static struct starpu_codelet update = {
    .cpu_funcs = {update_cpu}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "update"};
static struct starpu_codelet multiply = {
    .cpu_funcs = {multiply_cpu},
    .opencl_funcs = {multiply_opencl},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_RW},
    .model = &multiply_model,
    .name = "multiply",
};

/* Submits all tasks; StarPU finds their order from the tiles. */
static int submit_all(int *failed)
{
    int code = 0;
    for (size_t k = 0; k < TILES && code == 0; k++) {
        code = starpu_task_insert(&factorize, STARPU_RW, handles[tile_at(k, k)], STARPU_VALUE,
                                  &failed, sizeof failed, 0);
        for (size_t i = k + 1; i < TILES && code == 0; i++) {
            code = starpu_task_insert(&solve, STARPU_R, handles[tile_at(k, k)], STARPU_RW,
                                      handles[tile_at(i, k)], 0);
        }
        for (size_t i = k + 1; i < TILES && code == 0; i++) {
            for (size_t j = k + 1; j < i && code == 0; j++) {
                code = starpu_task_insert(&multiply, STARPU_R, handles[tile_at(i, k)], STARPU_R,
                                          handles[tile_at(j, k)], STARPU_RW, handles[tile_at(i, j)],
                                          0);
            }
            if (code == 0) {
                code = starpu_task_insert(&update, STARPU_R, handles[tile_at(i, k)], STARPU_RW,
                                          handles[tile_at(i, i)], 0);
            }
        }
    }
    return code;
}

int main(void)
{
    int failed = 0;
    tiles_make(tiles);
    if (starpu_init(NULL) != 0) {
        (void)fputs("cholesky: starpu_init failed\n", stderr);
        return 1;
    }
    if (starpu_opencl_worker_get_count() > 0) {
        starpu_opencl_load_opencl_from_string(tiles_source, &program, NULL);
    }
    for (size_t t = 0; t < TILE_COUNT; t++) {
        starpu_vector_data_register(&handles[t], STARPU_MAIN_RAM, (uintptr_t)tiles[t],
                                    TILE_ELEMENTS, sizeof(float));
    }
    const int code = submit_all(&failed);
    starpu_task_wait_for_all();
    for (size_t t = 0; t < TILE_COUNT; t++) {
        starpu_data_unregister(handles[t]);
    }
    if (starpu_opencl_worker_get_count() > 0) {
        starpu_opencl_unload_opencl(&program);
    }
    starpu_shutdown();
    if (code != 0 || failed != 0) {
        (void)fprintf(stderr, "cholesky: %s\n",
                      failed != 0 ? "the matrix is not positive definite" : "no worker for a task");
        return 1;
    }
    const int good = tiles_check(tiles);
    return fflush(stdout) == 0 && good ? 0 : 1;
}
