/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cholesky's factorization in tiles, with dynsel: each operation is a command group that names the
 * buffers it reads and writes; the library keeps the order, and a policy chooses the resources.
 * original.c is the same program with StarPU.
 */
#include <dynsel/dynsel.h>
#include <stdio.h>

#include "tiles.h"

enum { NOT_POSITIVE = DYNSEL_E_USER - 1 };

static _Alignas(4096) float tiles[TILE_COUNT][TILE_ELEMENTS];
static dynsel_buffer buffers[TILE_COUNT];

static dynsel_status factorize_on_host(const dynsel_launch *launch)
{
    return tile_factorize(dynsel_launch_data(launch, 0)) == 0 ? DYNSEL_OK
                                                              : (dynsel_status)NOT_POSITIVE;
}

static dynsel_status solve_on_host(const dynsel_launch *launch)
{
    tile_solve(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1));
    return DYNSEL_OK;
}

static dynsel_status update_on_host(const dynsel_launch *launch)
{
    tile_update(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1));
    return DYNSEL_OK;
}

static dynsel_status multiply_on_host(const dynsel_launch *launch)
{
    tile_multiply(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                  dynsel_launch_data(launch, 2));
    return DYNSEL_OK;
}

static const dynsel_kernel factorize = {.name = "factorize", .function = factorize_on_host};
static const dynsel_kernel solve = {.name = "solve", .function = solve_on_host};
static const dynsel_kernel update = {.name = "update", .function = update_on_host};
static const dynsel_kernel multiply = {
    .name = "multiply", .function = multiply_on_host, .source = tiles_source};

/* A task: a kernel, the tile that it changes, and those that it reads. */
typedef struct operation {
    const dynsel_kernel *kernel;
    size_t changed;
    size_t read[2];
    uint32_t read_count;
} operation;

/* Errors of the calls in here end in the status of the submit. */
static dynsel_status record(dynsel_handler *handler, void *args)
{
    const operation *task = args;
    const int side = SIDE;
    dynsel_accessor changed = {0};
    dynsel_get_access(handler, buffers[task->changed], DYNSEL_ACCESS_READ_WRITE,
                      DYNSEL_MEMORY_GLOBAL, &changed);
    dynsel_set_arg(handler, 0, &changed);
    for (uint32_t i = 0; i < task->read_count; i++) {
        dynsel_accessor read = {0};
        dynsel_get_access(handler, buffers[task->read[i]], DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL,
                          &read);
        dynsel_set_arg(handler, 1 + i, &read);
    }
    dynsel_set_arg(handler, 1 + task->read_count, side);
    return dynsel_parallel_for(handler, task->kernel, DYNSEL_RANGE_2D(SIDE, SIDE), NULL, NULL);
}

static dynsel_status submit(dynsel_policy *policy, operation task)
{
    return dynsel_submit_command_group(policy, record, &task, NULL);
}

/* Submits all command groups; the library finds their order from the buffers. */
static dynsel_status submit_all(dynsel_policy *policy)
{
    dynsel_status status = DYNSEL_OK;
    for (size_t k = 0; k < TILES && status == DYNSEL_OK; k++) {
        status = submit(policy, (operation){&factorize, tile_at(k, k), {0}, 0});
        for (size_t i = k + 1; i < TILES && status == DYNSEL_OK; i++) {
            status = submit(policy, (operation){&solve, tile_at(i, k), {tile_at(k, k)}, 1});
        }
        for (size_t i = k + 1; i < TILES && status == DYNSEL_OK; i++) {
            for (size_t j = k + 1; j < i && status == DYNSEL_OK; j++) {
                status = submit(
                    policy,
                    (operation){&multiply, tile_at(i, j), {tile_at(i, k), tile_at(j, k)}, 2});
            }
            if (status == DYNSEL_OK) {
                status = submit(policy, (operation){&update, tile_at(i, i), {tile_at(i, k)}, 1});
            }
        }
    }
    return status;
}

static dynsel_status run(dynsel_policy *policy)
{
    dynsel_status status = DYNSEL_OK;
    for (size_t t = 0; t < TILE_COUNT && status == DYNSEL_OK; t++) {
        status =
            dynsel_buffer_init(&buffers[t], tiles[t], sizeof(float), DYNSEL_RANGE(TILE_ELEMENTS));
    }
    if (status == DYNSEL_OK) {
        status = submit_all(policy);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_wait_group(dynsel_get_submission_group(policy));
    }
    for (size_t t = 0; t < TILE_COUNT && status == DYNSEL_OK; t++) {
        status = dynsel_buffer_deinit(&buffers[t]);
    }
    return status;
}

int main(void)
{
    static dynsel_earliest_finish_policy policy;
    const dynsel_options options = {.defaults = DYNSEL_WORKERS_AND_DEVICES};
    tiles_make(tiles);
    dynsel_status status = dynsel_earliest_finish_init(&policy, &options);
    if (status == DYNSEL_OK) {
        status = run(&policy.policy);
    }
    if (status != DYNSEL_OK) {
        char text[1024];
        dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "cholesky: %s\n",
                      (int)status == NOT_POSITIVE ? "the matrix is not positive definite" : text);
        return 1;
    }
    const int good = tiles_check(tiles);
    return fflush(stdout) == 0 && good ? 0 : 1;
}
