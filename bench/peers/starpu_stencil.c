/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil over a grid in parts, which exchange their border rows, through StarPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"
#include "../usecases/random.h"
#include "starpu_graph.h"

enum { BUFFERS_OF_PART = 6, MOST_PARTS = 170, GENERATIONS = 2 };

enum kind { STEP, BORDERS, KINDS };

static struct {
    uint64_t parts;
    uint64_t rows;
    uint64_t columns;
    uint64_t iterations;
    uint64_t passes;
} own = {.parts = 8, .rows = 64, .columns = 1024, .iterations = 20, .passes = 20};

static const argument own_options[] = {
    {"--parts", "N", "of the grid", &own.parts, 1, MOST_PARTS, NULL},
    {"--rows", "N", "of a part", &own.rows, 2, 65536, NULL},
    {"--columns", "N", "of the grid", &own.columns, 2, 65536, NULL},
    {"--iterations", "N", "in one pass", &own.iterations, 1, 1000, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

/* Buffers of one part; iteration i reads those of i % 2 and writes the other ones. */
typedef struct part {
    uint32_t grid[GENERATIONS];
    uint32_t first[GENERATIONS]; /* copy of the first row */
    uint32_t last[GENERATIONS];
} part;

static peer_graph grid = {.name = "stencil", .unit = "Mpoint"};
static part parts[MOST_PARTS];
static peer_call calls[KINDS];

/* Different factors, so that no neighbour can stand for another one; sums wrap. */
static void step_row(uint32_t *to, const uint32_t *row, const uint32_t *above,
                     const uint32_t *below, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        const uint32_t left = row[j > 0 ? j - 1 : columns - 1];
        const uint32_t right = row[j + 1 < columns ? j + 1 : 0];
        to[j] = row[j] + 3 * above[j] + 5 * below[j] + 7 * left + 11 * right;
    }
}

static void step_on_host(void *const data[], const peer_call *call)
{
    uint32_t *to = data[0];
    const uint32_t *from = data[1];
    const uint32_t *above = data[2];
    const uint32_t *below = data[3];
    const size_t rows = call->values[0].u;
    const size_t columns = call->values[1].u;
    for (size_t i = 0; i < rows; i++) {
        const uint32_t *row = &from[i * columns];
        step_row(&to[i * columns], row, i > 0 ? row - columns : above,
                 i + 1 < rows ? row + columns : below, columns);
    }
}

static void borders_on_host(void *const data[], const peer_call *call)
{
    const uint32_t *from = data[2];
    const size_t rows = call->values[0].u;
    const size_t columns = call->values[1].u;
    (void)memcpy(data[0], from, columns * sizeof *from);
    (void)memcpy(data[1], from + (rows - 1) * columns, columns * sizeof *from);
}

static peer_kernel kernels[KINDS] = {
    {.name = "stencil",
     .source = "kernel void stencil(global unsigned *to, global const unsigned *from,"
               "                 global const unsigned *above, global const unsigned *below,"
               "                 unsigned rows, unsigned columns)"
               "{"
               "    size_t i = get_global_id(1);"
               "    size_t j = get_global_id(0);"
               "    global const unsigned *row = from + i * columns;"
               "    unsigned up = i > 0 ? row[j - columns] : above[j];"
               "    unsigned down = i + 1 < rows ? row[j + columns] : below[j];"
               "    unsigned left = row[j > 0 ? j - 1 : columns - 1];"
               "    unsigned right = row[j + 1 < columns ? j + 1 : 0];"
               "    to[i * columns + j] = row[j] + 3 * up + 5 * down + 7 * left + 11 * right;"
               "}",
     .host = step_on_host,
     .buffers = 4,
     .values = 2,
     .modes = {STARPU_W, STARPU_R, STARPU_R, STARPU_R}},
    {.name = "borders",
     .source = "kernel void borders(global unsigned *first, global unsigned *last,"
               "                    global const unsigned *from, unsigned rows, unsigned columns)"
               "{"
               "    size_t j = get_global_id(0);"
               "    first[j] = from[j];"
               "    last[j] = from[(rows - 1) * columns + j];"
               "}",
     .host = borders_on_host,
     .buffers = 3,
     .values = 2,
     .modes = {STARPU_W, STARPU_W, STARPU_R}},
};

static void open_parts(uint64_t seed)
{
    const size_t elements = own.rows * own.columns;
    for (size_t i = 0; i < own.parts; i++) {
        for (int k = 0; k < 2; k++) {
            parts[i].grid[k] = peer_graph_add_buffer(&grid, elements);
            parts[i].first[k] = peer_graph_add_buffer(&grid, own.columns);
            parts[i].last[k] = peer_graph_add_buffer(&grid, own.columns);
        }
        uint32_t *initial = grid.buffers[parts[i].grid[0]].initial;
        for (size_t k = 0; k < elements; k++) {
            initial[k] = (uint32_t)random_next(&seed);
        }
        (void)memcpy(grid.buffers[parts[i].first[0]].initial, initial,
                     own.columns * sizeof *initial);
        (void)memcpy(grid.buffers[parts[i].last[0]].initial, initial + elements - own.columns,
                     own.columns * sizeof *initial);
    }
}

static void add_pieces(void)
{
    for (uint64_t iteration = 0; iteration < own.iterations; iteration++) {
        const size_t old = iteration % GENERATIONS;
        const size_t new = 1 - old;
        for (size_t i = 0; i < own.parts; i++) {
            const part *above = &parts[(i + own.parts - 1) % own.parts];
            const part *below = &parts[(i + 1) % own.parts];
            peer_graph_add(&grid, &(peer_piece){.call = &calls[STEP],
                                                .buffers = {parts[i].grid[new], parts[i].grid[old],
                                                            above->last[old], below->first[old]}});
        }
        for (size_t i = 0; i < own.parts; i++) {
            const part *p = &parts[i];
            peer_graph_add(&grid,
                           &(peer_piece){.call = &calls[BORDERS],
                                         .buffers = {p->first[new], p->last[new], p->grid[new]}});
        }
    }
}

static uint32_t *whole_grid(void)
{
    uint32_t *memory = calloc(own.parts * own.rows * own.columns, sizeof *memory);
    if (memory == NULL) {
        log_exit(STATUS_FAILED, "the host has no memory for the grid");
    }
    return memory;
}

/* The results, in plain C over the grid in one piece. */
static void compute_expected(void)
{
    const size_t of_part = own.rows * own.columns;
    const size_t rows = own.parts * own.rows;
    uint32_t *old = whole_grid();
    uint32_t *new = whole_grid();
    for (size_t i = 0; i < own.parts; i++) {
        (void)memcpy(old + i * of_part, grid.buffers[parts[i].grid[0]].initial,
                     of_part * sizeof *old);
    }
    for (uint64_t iteration = 0; iteration < own.iterations; iteration++) {
        for (size_t i = 0; i < rows; i++) {
            step_row(new + i *own.columns, old + i * own.columns,
                     old + (i + rows - 1) % rows * own.columns, old + (i + 1) % rows * own.columns,
                     own.columns);
        }
        uint32_t *other = old;
        old = new;
        new = other;
    }
    for (size_t i = 0; i < own.parts; i++) {
        (void)memcpy(peer_graph_expect(&grid, parts[i].grid[own.iterations % 2]), old + i * of_part,
                     of_part * sizeof *old);
    }
    free(old);
    free(new);
}

static void open_kinds(void)
{
    for (int i = 0; i < KINDS; i++) {
        peer_prepare(&kernels[i]);
        calls[i] = (peer_call){.kernel = &kernels[i],
                               .values = {{.u = (uint32_t)own.rows}, {.u = (uint32_t)own.columns}},
                               .global = {own.columns}};
    }
    calls[STEP].global[1] = own.rows;
}

static void run(const peer_options *options)
{
    grid.units = (double)(own.parts * own.rows * own.columns * own.iterations) / 1e6;
    open_kinds();
    peer_graph_open(&grid, own.parts * BUFFERS_OF_PART, own.iterations * own.parts * KINDS);
    open_parts(options->seed);
    compute_expected();
    add_pieces();
    peer_graph_measure(&grid, own.passes);
    peer_graph_close(&grid);
    for (int i = 0; i < KINDS; i++) {
        peer_release(&kernels[i]);
    }
}

const peer_command peer_stencil = {
    .name = "stencil",
    .about = "A stencil of five points over a grid in parts, which exchange their border rows.\n"
             "The grid of whole numbers closes to a ring in both directions. Two tasks for each "
             "part and iteration.\nEvery element is compared with plain C after each pass.",
    .own = own_options,
    .run = run};
