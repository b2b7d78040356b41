/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled product of matrices, C += A * B, with every policy. */
#include "csv.h"
#include "graph_passes.h"
#include "matmul_kernel.h"
#include "passes.h"
#include "random.h"

static const char *const ABOUT =
    "The product of two matrices in tiles, C += A * B: a command group for each product of two "
    "tiles.\nThose of one tile of C follow each other, all others are independent. The elements "
    "are small whole\nnumbers, so that every sum is exact; every element is compared with plain "
    "C after each pass.";

enum {
    MOST_TILES = GRAPH_MOST_BUFFERS >= 3 * 16 * 16 ? 16
                 : GRAPH_MOST_BUFFERS >= 3 * 8 * 8 ? 8
                                                   : 2,
    MOST_VALUE = 7
};

static struct {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
} own = {.tiles = MOST_TILES < 4 ? MOST_TILES : 4, .tile = 128, .passes = 20};

static const argument own_options[] = {
    {"--tiles", "N", "in each dimension", &own.tiles, 1, MOST_TILES, NULL},
    {"--tile", "N", "rows of a tile, and columns", &own.tile, 4, 2048, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    PASSES_ONLY,
    {.name = NULL}};

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static graph product = {.name = "matmul", .unit = "GFLOP", .r = &all};
static uint32_t buffers[3][MOST_TILES][MOST_TILES]; /* of A, B, C */

static dynsel_status matmul_on_host(const dynsel_launch *launch)
{
    matmul_add(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
               dynsel_launch_data(launch, 2), DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t));
    return DYNSEL_OK;
}

static const dynsel_kernel matmul = {
    .name = "matmul",
    .id = 1,
    .function = matmul_on_host,
    .source = MATMUL_SOURCE,
};

static float *initial(uint32_t buffer)
{
    return product.buffers[buffer].initial;
}

static void open_matrices(uint64_t seed)
{
    const size_t elements = own.tile * own.tile;
    for (int matrix = 0; matrix < 3; matrix++) {
        for (size_t i = 0; i < own.tiles; i++) {
            for (size_t j = 0; j < own.tiles; j++) {
                const uint32_t buffer = graph_add_buffer(&product, elements);
                buffers[matrix][i][j] = buffer;
                for (size_t k = 0; k < elements && matrix < 2; k++) {
                    initial(buffer)[k] = (float)(random_next(&seed) % (MOST_VALUE + 1));
                }
            }
        }
    }
}

/* The pieces, and what they have to compute. */
static void add_pieces(void)
{
    for (size_t k = 0; k < own.tiles; k++) {
        for (size_t i = 0; i < own.tiles; i++) {
            for (size_t j = 0; j < own.tiles; j++) {
                const uint32_t a = buffers[0][i][k];
                const uint32_t b = buffers[1][k][j];
                const uint32_t c = buffers[2][i][j];
                graph_add(&product, &(graph_piece){.kind = 0,
                                                   .use_count = 3,
                                                   .uses = {{c, DYNSEL_ACCESS_READ_WRITE},
                                                            {a, DYNSEL_ACCESS_READ},
                                                            {b, DYNSEL_ACCESS_READ}}});
                matmul_add(graph_expect(&product, c), initial(a), initial(b), own.tile);
            }
        }
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    const size_t pieces = own.tiles * own.tiles * own.tiles;
    product.kinds[product.kind_count++] =
        (graph_kind){.kernel = &matmul,
                     .global = DYNSEL_RANGE_2D(own.tile, own.tile),
                     .values = {(uint32_t)own.tile},
                     .value_count = 1};
    product.units = 2.0 * (double)(pieces * own.tile * own.tile * own.tile) / 1e9;
    graph_open(&product, pieces);
    open_matrices(options.seed);
    add_pieces();
    graph_passes_measure(&product, (uint32_t)own.passes);
    graph_close(&product);
    resources_close();
    csv_close();
    return 0;
}
