/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-means over the host's processors and all OpenCL devices, with dynsel: the points are cut into
 * blocks, and a policy selects a device for each block in each step. original.c is the same
 * program by hand.
 */
#include <dynsel/dynsel.h>
#include <stdio.h>
#include <string.h>

#include "kmeans.h"

enum {
    BLOCKS = 4,
    BLOCK_POINTS = POINTS / BLOCKS,
    STRIPS = BLOCK_POINTS / STRIP,
    BLOCK_SUMS = STRIPS * SUMS
};

typedef struct block {
    dynsel_buffer points, sums, means;
} block;

static _Alignas(4096) point points[POINTS];
static _Alignas(4096) int64_t sums[BLOCKS][BLOCK_SUMS];

static void sum_up_strip(const point *own, const point *means, size_t mean_count, int64_t *sum)
{
    for (int p = 0; p < STRIP; p++) {
        size_t best = 0;
        int64_t least = INT64_MAX;
        for (size_t m = 0; m < mean_count; m++) {
            const int64_t dx = (int64_t)own[p].x - means[m].x;
            const int64_t dy = (int64_t)own[p].y - means[m].y;
            if (dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                best = m;
            }
        }
        sum[best * 3] += own[p].x;
        sum[best * 3 + 1] += own[p].y;
        sum[best * 3 + 2] += 1;
    }
}

/* The kernel's form for the host: called once for all strips of a block. */
static dynsel_status nearest_on_host(const dynsel_launch *launch)
{
    const point *own = dynsel_launch_data(launch, 0);
    const point *means = dynsel_launch_data(launch, 1);
    int64_t *sum = dynsel_launch_data(launch, 4);
    const size_t strips = launch->global.size[0];
    const size_t mean_count = (size_t)DYNSEL_LAUNCH_VALUE(launch, 2, int);
    memset(sum, 0, strips * SUMS * sizeof *sum);
    for (size_t s = 0; s < strips; s++) {
        sum_up_strip(own + s * STRIP, means, mean_count, sum + s * SUMS);
    }
    return DYNSEL_OK;
}

static const dynsel_kernel nearest = {
    .name = "nearest", .function = nearest_on_host, .source = kmeans_source};

/* Declares what the kernel uses. Errors end in the status of the submit. */
static dynsel_status sum_up(dynsel_handler *handler, void *args)
{
    const block *own = args;
    const int mean_count = MEANS;
    const int strip = STRIP;
    dynsel_accessor from = {0};
    dynsel_accessor means = {0};
    dynsel_accessor to = {0};
    dynsel_get_access(handler, own->points, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &from);
    dynsel_get_access(handler, own->means, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &means);
    dynsel_get_access(handler, own->sums, DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &to);
    dynsel_set_arg(handler, 0, &from);
    dynsel_set_arg(handler, 1, &means);
    dynsel_set_arg(handler, 2, mean_count);
    dynsel_set_arg(handler, 3, strip);
    dynsel_set_arg(handler, 4, &to);
    return dynsel_parallel_for(handler, &nearest, DYNSEL_RANGE(STRIPS), NULL, NULL);
}

static dynsel_status make_buffers(block *blocks, dynsel_buffer *means, point *mean_values)
{
    dynsel_status status =
        dynsel_buffer_init(means, mean_values, sizeof(point), DYNSEL_RANGE(MEANS));
    for (size_t b = 0; b < BLOCKS && status == DYNSEL_OK; b++) {
        status = dynsel_buffer_init(&blocks[b].points, &points[b * BLOCK_POINTS], sizeof(point),
                                    DYNSEL_RANGE(BLOCK_POINTS));
        if (status == DYNSEL_OK) {
            status = dynsel_buffer_init(&blocks[b].sums, sums[b], sizeof(int64_t),
                                        DYNSEL_RANGE(BLOCK_SUMS));
        }
        blocks[b].means = *means;
    }
    return status;
}

/* Opening a host accessor waits for the work that writes the buffer, and copies its data back. */
static dynsel_status add_block(const block *own, int64_t *totals)
{
    dynsel_host_accessor seen = {0};
    const dynsel_status status = dynsel_host_accessor_open(&seen, own->sums, DYNSEL_ACCESS_READ);
    if (status != DYNSEL_OK) {
        return status;
    }
    kmeans_add(totals, seen.data, STRIPS);
    return dynsel_host_accessor_close(&seen);
}

static dynsel_status step(dynsel_policy *policy, block *blocks, int64_t *totals, bool *moved)
{
    dynsel_host_accessor means = {0};
    dynsel_status status = DYNSEL_OK;
    memset(totals, 0, SUMS * sizeof *totals);
    for (size_t b = 0; b < BLOCKS && status == DYNSEL_OK; b++) {
        status = dynsel_submit_command_group(policy, sum_up, &blocks[b], NULL);
    }
    for (size_t b = 0; b < BLOCKS && status == DYNSEL_OK; b++) {
        status = add_block(&blocks[b], totals);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_host_accessor_open(&means, blocks[0].means, DYNSEL_ACCESS_READ_WRITE);
    }
    if (status == DYNSEL_OK) {
        *moved = kmeans_move(means.data, totals);
        status = dynsel_host_accessor_close(&means);
    }
    return status;
}

static dynsel_status run(dynsel_policy *policy, int64_t *totals, point *mean_values, int *steps)
{
    block blocks[BLOCKS] = {0};
    dynsel_buffer means = {0};
    dynsel_status status = make_buffers(blocks, &means, mean_values);
    for (bool moved = true; moved && *steps < MOST_STEPS && status == DYNSEL_OK; ++*steps) {
        status = step(policy, blocks, totals, &moved);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_wait_group(dynsel_get_submission_group(policy));
    }
    for (size_t b = 0; b < BLOCKS && status == DYNSEL_OK; b++) {
        status = dynsel_buffer_deinit(&blocks[b].points);
        status = status == DYNSEL_OK ? dynsel_buffer_deinit(&blocks[b].sums) : status;
    }
    return status == DYNSEL_OK ? dynsel_buffer_deinit(&means) : status;
}

int main(void)
{
    static dynsel_earliest_finish_policy policy;
    static point means[MEANS];
    int64_t totals[SUMS];
    int steps = 0;
    const dynsel_options options = {.defaults = DYNSEL_WORKERS_AND_DEVICES};
    kmeans_make_points(points, POINTS);
    kmeans_first_means(points, POINTS, means);
    dynsel_status status = dynsel_earliest_finish_init(&policy, &options);
    if (status == DYNSEL_OK) {
        status = run(&policy.policy, totals, means, &steps);
    }
    if (status != DYNSEL_OK) {
        char text[1024];
        dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "kmeans: %s\n", text);
        return 1;
    }
    kmeans_print(means, totals, steps);
    return fflush(stdout) == 0 ? 0 : 1;
}
