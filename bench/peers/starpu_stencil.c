/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil over a grid in parts, which exchange their border rows, through StarPU. */
#include <stdlib.h>
#include <string.h>

#include "../usecases/memory.h"
#include "../usecases/stencil_kernels.h"
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

static void step_on_host(void *const data[], const peer_call *call)
{
    stencil_step(data[0], data[1], data[2], data[3], call->values[0].u, call->values[1].u);
}

static void borders_on_host(void *const data[], const peer_call *call)
{
    stencil_borders(data[0], data[1], data[2], call->values[0].u, call->values[1].u);
}

static peer_kernel kernels[KINDS] = {
    {.name = "stencil",
     .source = STENCIL_SOURCE,
     .host = step_on_host,
     .buffers = 4,
     .values = 2,
     .modes = {STARPU_W, STARPU_R, STARPU_R, STARPU_R}},
    {.name = "borders",
     .source = STENCIL_BORDERS_SOURCE,
     .host = borders_on_host,
     .buffers = 3,
     .values = 2,
     .modes = {STARPU_W, STARPU_W, STARPU_R}},
};

static uint32_t *initial_of(uint32_t buffer)
{
    return grid.buffers[buffer].initial;
}

static void open_parts(uint64_t seed)
{
    const size_t elements = own.rows * own.columns;
    for (size_t i = 0; i < own.parts; i++) {
        for (int k = 0; k < 2; k++) {
            parts[i].grid[k] = peer_graph_add_buffer(&grid, elements);
            parts[i].first[k] = peer_graph_add_buffer(&grid, own.columns);
            parts[i].last[k] = peer_graph_add_buffer(&grid, own.columns);
        }
        uint32_t *initial = initial_of(parts[i].grid[0]);
        stencil_fill(initial, own.rows, own.columns, &seed);
        stencil_borders(initial_of(parts[i].first[0]), initial_of(parts[i].last[0]), initial,
                        own.rows, own.columns);
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

/* The results, of the grid in one piece. */
static void compute_expected(void)
{
    const size_t of_part = own.rows * own.columns;
    const size_t bytes = of_part * sizeof(uint32_t);
    uint32_t *whole = memory_allocate(own.parts * bytes);
    for (size_t i = 0; i < own.parts; i++) {
        (void)memcpy(whole + i * of_part, initial_of(parts[i].grid[0]), bytes);
    }
    stencil_iterate(whole, own.parts * own.rows, own.columns, own.iterations);
    for (size_t i = 0; i < own.parts; i++) {
        (void)memcpy(peer_graph_expect(&grid, parts[i].grid[own.iterations % 2]),
                     whole + i * of_part, bytes);
    }
    free(whole);
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
