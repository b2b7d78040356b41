/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil over a grid in parts, which exchange their border rows, with every policy. */
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "graph_passes.h"
#include "memory.h"
#include "passes.h"
#include "stencil_kernels.h"

static const char *const ABOUT =
    "A stencil of five points over a grid of whole numbers that closes to a ring in both "
    "directions. The grid\nis cut into parts of several rows. In each iteration a part computes "
    "its new rows from its old ones and\nits neighbours' border rows, and copies its own new "
    "border rows into buffers for them: two command groups\nfor each part. Every element is "
    "compared with plain C after each pass.";

enum { BUFFERS_OF_PART = 6, MOST_PARTS = GRAPH_MOST_BUFFERS / BUFFERS_OF_PART };

enum kind { STEP, BORDERS, KINDS };

static struct {
    uint64_t parts;
    uint64_t rows;
    uint64_t columns;
    uint64_t iterations;
    uint64_t passes;
} own = {.parts = MOST_PARTS < 8 ? MOST_PARTS : 8,
         .rows = 64,
         .columns = 1024,
         .iterations = 20,
         .passes = 20};

static const argument own_options[] = {
    {"--parts", "N", "of the grid", &own.parts, 1, MOST_PARTS, NULL},
    {"--rows", "N", "of a part", &own.rows, 2, 65536, NULL},
    {"--columns", "N", "of the grid", &own.columns, 2, 65536, NULL},
    {"--iterations", "N", "in one pass", &own.iterations, 1, 1000, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    PASSES_OPTIONS,
    {.name = NULL}};

/* Buffers of one part; iteration i reads those of i % 2 and writes the other ones. */
typedef struct part {
    uint32_t grid[2];
    uint32_t first[2]; /* copy of the first row */
    uint32_t last[2];
} part;

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static graph grid = {.name = "stencil", .unit = "Mpoint", .r = &all};
static part parts[MOST_PARTS];

static dynsel_status step_on_host(const dynsel_launch *launch)
{
    stencil_step(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                 dynsel_launch_data(launch, 2), dynsel_launch_data(launch, 3),
                 DYNSEL_LAUNCH_VALUE(launch, 4, uint32_t),
                 DYNSEL_LAUNCH_VALUE(launch, 5, uint32_t));
    return DYNSEL_OK;
}

static dynsel_status borders_on_host(const dynsel_launch *launch)
{
    stencil_borders(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                    dynsel_launch_data(launch, 2), DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t),
                    DYNSEL_LAUNCH_VALUE(launch, 4, uint32_t));
    return DYNSEL_OK;
}

static const dynsel_kernel kernels[KINDS] = {
    {.name = "stencil", .id = 1, .function = step_on_host, .source = STENCIL_SOURCE},
    {.name = "borders", .id = 2, .function = borders_on_host, .source = STENCIL_BORDERS_SOURCE},
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
            parts[i].grid[k] = graph_add_buffer(&grid, elements);
            parts[i].first[k] = graph_add_buffer(&grid, own.columns);
            parts[i].last[k] = graph_add_buffer(&grid, own.columns);
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
        const size_t old = iteration % 2;
        const size_t new = 1 - old;
        for (size_t i = 0; i < own.parts; i++) {
            const part *above = &parts[(i + own.parts - 1) % own.parts];
            const part *below = &parts[(i + 1) % own.parts];
            graph_add(&grid,
                      &(graph_piece){.kind = STEP,
                                     .use_count = 4,
                                     .uses = {{parts[i].grid[new], DYNSEL_ACCESS_DISCARD_WRITE},
                                              {parts[i].grid[old], DYNSEL_ACCESS_READ},
                                              {above->last[old], DYNSEL_ACCESS_READ},
                                              {below->first[old], DYNSEL_ACCESS_READ}}});
        }
        for (size_t i = 0; i < own.parts; i++) {
            const part *p = &parts[i];
            graph_add(&grid, &(graph_piece){.kind = BORDERS,
                                            .use_count = 3,
                                            .uses = {{p->first[new], DYNSEL_ACCESS_DISCARD_WRITE},
                                                     {p->last[new], DYNSEL_ACCESS_DISCARD_WRITE},
                                                     {p->grid[new], DYNSEL_ACCESS_READ}}});
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
        (void)memcpy(graph_expect(&grid, parts[i].grid[own.iterations % 2]), whole + i * of_part,
                     bytes);
    }
    free(whole);
}

static void open_kinds(void)
{
    for (int i = 0; i < KINDS; i++) {
        grid.kinds[i] = (graph_kind){.kernel = &kernels[i],
                                     .values = {(uint32_t)own.rows, (uint32_t)own.columns},
                                     .value_count = 2};
    }
    grid.kinds[STEP].global = DYNSEL_RANGE_2D(own.rows, own.columns);
    grid.kinds[BORDERS].global = DYNSEL_RANGE(own.columns);
    grid.kind_count = KINDS;
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    grid.units = (double)(own.parts * own.rows * own.columns * own.iterations) / 1e6;
    open_kinds();
    graph_open(&grid, own.iterations * own.parts * KINDS);
    open_parts(options.seed);
    compute_expected();
    add_pieces();
    graph_passes_measure(&grid, (uint32_t)own.passes);
    graph_close(&grid);
    resources_close();
    csv_close();
    return 0;
}
