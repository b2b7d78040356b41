/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled Cholesky factorization, A = L * transposed L, with every policy. */
#include "cholesky_kernels.h"
#include "csv.h"
#include "graph_passes.h"
#include "passes.h"

static const char *const ABOUT =
    "The Cholesky factorization of a symmetric matrix in tiles: four kernels (potrf, trsm, syrk "
    "and gemm),\nhundreds of command groups, ordered by the tiles that they use. The matrix is "
    "the product of a factor of\nsmall whole numbers with itself, so that all steps are exact but "
    "for the rounding of a device's division\nand square root. Every element of the result is "
    "compared with that factor after each pass, with a\ntolerance of 0.001 (a missing step "
    "changes an element by 0.003 or more).";

enum {
    TILES_32 = 32 * 33 / 2,
    TILES_8 = 8 * 9 / 2,
    MOST_TILES = GRAPH_MOST_BUFFERS >= TILES_32  ? 32
                 : GRAPH_MOST_BUFFERS >= TILES_8 ? 8
                                                 : 4,
    LEAST_TILE = 4,
    MOST_TILE = 512
};

static struct {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
} own = {.tiles = MOST_TILES < 10 ? MOST_TILES : 10, .tile = 64, .passes = 20};

static const argument own_options[] = {
    {"--tiles", "N", "in each dimension", &own.tiles, 1, MOST_TILES, NULL},
    {"--tile", "N", "rows of a tile, and columns", &own.tile, LEAST_TILE, MOST_TILE, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    PASSES_OPTIONS,
    {.name = NULL}};

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static uint32_t buffers[MOST_TILES][MOST_TILES]; /* the lower triangle */

static dynsel_status potrf_on_host(const dynsel_launch *launch)
{
    cholesky_potrf(dynsel_launch_data(launch, 0), DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t));
    return DYNSEL_OK;
}

static dynsel_status trsm_on_host(const dynsel_launch *launch)
{
    cholesky_trsm(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                  DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t));
    return DYNSEL_OK;
}

static dynsel_status syrk_on_host(const dynsel_launch *launch)
{
    cholesky_syrk(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                  DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t));
    return DYNSEL_OK;
}

static dynsel_status gemm_on_host(const dynsel_launch *launch)
{
    cholesky_gemm(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                  dynsel_launch_data(launch, 2), DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t));
    return DYNSEL_OK;
}

static const dynsel_kernel kernels[CHOLESKY_KINDS] = {
    {.name = "potrf", .id = 1, .function = potrf_on_host, .source = CHOLESKY_POTRF_SOURCE},
    {.name = "trsm", .id = 2, .function = trsm_on_host, .source = CHOLESKY_TRSM_SOURCE},
    {.name = "syrk", .id = 3, .function = syrk_on_host, .source = CHOLESKY_SYRK_SOURCE},
    {.name = "gemm", .id = 4, .function = gemm_on_host, .source = CHOLESKY_GEMM_SOURCE},
};

static graph factorization = {
    .name = "cholesky", .unit = "GFLOP", .r = &all, .is_right = cholesky_is_near};

/* a += x * transposed y. */
static void add_product(float *a, const float *x, const float *y)
{
    const size_t n = own.tile;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++) {
                sum += x[i * n + k] * y[j * n + k];
            }
            a[i * n + j] += sum;
        }
    }
}

static void open_matrix(uint64_t seed)
{
    for (size_t i = 0; i < own.tiles; i++) {
        for (size_t j = 0; j <= i; j++) {
            buffers[i][j] = graph_add_buffer(&factorization, own.tile * own.tile);
            cholesky_factor(graph_expect(&factorization, buffers[i][j]), own.tile, own.tiles, i, j,
                            &seed);
        }
    }
    for (size_t i = 0; i < own.tiles; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (size_t k = 0; k <= j; k++) {
                add_product(factorization.buffers[buffers[i][j]].initial,
                            factorization.buffers[buffers[i][k]].expected,
                            factorization.buffers[buffers[j][k]].expected);
            }
        }
    }
    /* The kernels leave what is above the diagonal, so that it stays as it was. */
    for (size_t i = 0; i < own.tiles; i++) {
        const float *initial = factorization.buffers[buffers[i][i]].initial;
        float *expected = factorization.buffers[buffers[i][i]].expected;
        for (size_t row = 0; row < own.tile; row++) {
            for (size_t column = row + 1; column < own.tile; column++) {
                expected[row * own.tile + column] = initial[row * own.tile + column];
            }
        }
    }
}

static void add(cholesky_kind kind, uint32_t written, const uint32_t *read, uint32_t read_count)
{
    graph_piece piece = {.kind = kind, .use_count = 1 + read_count};
    piece.uses[0] = (graph_use){written, DYNSEL_ACCESS_READ_WRITE};
    for (uint32_t i = 0; i < read_count; i++) {
        piece.uses[1 + i] = (graph_use){read[i], DYNSEL_ACCESS_READ};
    }
    graph_add(&factorization, &piece);
}

static void add_pieces(void)
{
    for (size_t k = 0; k < own.tiles; k++) {
        add(CHOLESKY_POTRF, buffers[k][k], NULL, 0);
        for (size_t i = k + 1; i < own.tiles; i++) {
            add(CHOLESKY_TRSM, buffers[i][k], &buffers[k][k], 1);
        }
        for (size_t i = k + 1; i < own.tiles; i++) {
            add(CHOLESKY_SYRK, buffers[i][i], &buffers[i][k], 1);
            for (size_t j = k + 1; j < i; j++) {
                add(CHOLESKY_GEMM, buffers[i][j], (const uint32_t[]){buffers[i][k], buffers[j][k]},
                    2);
            }
        }
    }
}

static void open_kinds(void)
{
    const size_t n = own.tile;
    const size_t lanes = n < CHOLESKY_MOST_LANES ? n : CHOLESKY_MOST_LANES;
    const dynsel_range ranges[CHOLESKY_KINDS] = {DYNSEL_RANGE(lanes), DYNSEL_RANGE(n),
                                                 DYNSEL_RANGE_2D(n, n), DYNSEL_RANGE_2D(n, n)};
    for (int i = 0; i < CHOLESKY_KINDS; i++) {
        factorization.kinds[i] = (graph_kind){
            .kernel = &kernels[i], .global = ranges[i], .values = {(uint32_t)n}, .value_count = 1};
    }
    factorization.kinds[CHOLESKY_POTRF].local = DYNSEL_RANGE(lanes);
    factorization.kind_count = CHOLESKY_KINDS;
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    const size_t tiles = own.tiles;
    const double rows = (double)(tiles * own.tile);
    factorization.units = rows * rows * rows / 3 / 1e9;
    open_kinds();
    graph_open(&factorization, tiles * (tiles + 1) * (tiles + 2) / 6);
    open_matrix(options.seed);
    add_pieces();
    graph_passes_measure(&factorization, (uint32_t)own.passes);
    graph_close(&factorization);
    resources_close();
    csv_close();
    return 0;
}
