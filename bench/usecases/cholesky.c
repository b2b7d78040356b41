/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled Cholesky factorization, A = L * transposed L, with every policy. */
#include <math.h> /* fabs() */
#include <stdio.h>
#include <stdlib.h>

#include "csv.h"
#include "graph_passes.h"
#include "log.h"
#include "random.h"

static const char *const ABOUT =
    "The Cholesky factorization of a symmetric matrix in tiles: four kernels (potrf, trsm, syrk "
    "and gemm),\nhundreds of command groups, ordered by the tiles that they use. The matrix is "
    "the product of a factor of\nsmall whole numbers with itself, so that all steps are exact but "
    "for the rounding of a device's division\nand square root. Every element of the result is "
    "compared with that factor after each pass, with a\ntolerance of 0.001 (a missing step "
    "changes an element by 0.003 or more).";

/* The factor: a power of two on the diagonal, -1, 0 or 1 below it. A matrix of n rows with a
 * diagonal of at least 2 * sqrt(n) is well-conditioned (about 9). */
static const double TOLERANCE = 0.001;

enum {
    TILES_32 = 32 * 33 / 2,
    TILES_8 = 8 * 9 / 2,
    MOST_TILES = GRAPH_MOST_BUFFERS >= TILES_32  ? 32
                 : GRAPH_MOST_BUFFERS >= TILES_8 ? 8
                                                 : 4,
    MOST_LANES = 64, /* work-items of potrf, in one work-group */
    LEAST_TILE = 4,
    MOST_TILE = 512
};

enum kind { POTRF, TRSM, SYRK, GEMM, KINDS };

static struct {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
} own = {.tiles = MOST_TILES < 10 ? MOST_TILES : 10, .tile = 64, .passes = 20};

static const argument own_options[] = {
    {"--tiles", "N", "in each dimension", &own.tiles, 1, MOST_TILES, NULL},
    {"--tile", "N", "rows of a tile, and columns", &own.tile, LEAST_TILE, MOST_TILE, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static uint32_t buffers[MOST_TILES][MOST_TILES]; /* the lower triangle */

/* Newton's method, which needs no library; NAN stays, as of a device. */
static float square_root(float of)
{
    double root = of > 1 ? of : 1;
    for (double before = 2 * root; root < before;) {
        before = root;
        root = (root + of / root) / 2;
    }
    return (float)root;
}

/* On the diagonal: a = the factor of a. */
static dynsel_status potrf_on_host(const dynsel_launch *launch)
{
    float *a = dynsel_launch_data(launch, 0);
    const size_t n = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    for (size_t k = 0; k < n; k++) {
        const float pivot = square_root(a[k * n + k]);
        a[k * n + k] = pivot;
        for (size_t i = k + 1; i < n; i++) {
            a[i * n + k] /= pivot;
        }
        for (size_t i = k + 1; i < n; i++) {
            for (size_t j = k + 1; j <= i; j++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
    }
    return DYNSEL_OK;
}

/* Below it: x = x / transposed l. */
static dynsel_status trsm_on_host(const dynsel_launch *launch)
{
    float *x = dynsel_launch_data(launch, 0);
    const float *l = dynsel_launch_data(launch, 1);
    const size_t n = DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float rest = x[i * n + j];
            for (size_t k = 0; k < j; k++) {
                rest -= x[i * n + k] * l[j * n + k];
            }
            x[i * n + j] = rest / l[j * n + j];
        }
    }
    return DYNSEL_OK;
}

/* a = a - x * transposed x, only the lower triangle. */
static dynsel_status syrk_on_host(const dynsel_launch *launch)
{
    float *a = dynsel_launch_data(launch, 0);
    const float *x = dynsel_launch_data(launch, 1);
    const size_t n = DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++) {
                sum += x[i * n + k] * x[j * n + k];
            }
            a[i * n + j] -= sum;
        }
    }
    return DYNSEL_OK;
}

/* a = a - x * transposed y. */
static dynsel_status gemm_on_host(const dynsel_launch *launch)
{
    float *a = dynsel_launch_data(launch, 0);
    const float *x = dynsel_launch_data(launch, 1);
    const float *y = dynsel_launch_data(launch, 2);
    const size_t n = DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++) {
                sum += x[i * n + k] * y[j * n + k];
            }
            a[i * n + j] -= sum;
        }
    }
    return DYNSEL_OK;
}

static const dynsel_kernel kernels[KINDS] = {
    {.name = "potrf",
     .id = 1,
     .function = potrf_on_host,
     .source = "kernel void potrf(global float *a, unsigned n)"
               "{"
               "    unsigned lane = get_local_id(0);"
               "    unsigned lanes = get_local_size(0);"
               "    for (unsigned k = 0; k < n; k++) {"
               "        if (lane == 0) {"
               "            a[k * n + k] = sqrt(a[k * n + k]);"
               "        }"
               "        barrier(CLK_GLOBAL_MEM_FENCE);"
               "        for (unsigned i = k + 1 + lane; i < n; i += lanes) {"
               "            a[i * n + k] /= a[k * n + k];"
               "        }"
               "        barrier(CLK_GLOBAL_MEM_FENCE);"
               "        for (unsigned i = k + 1 + lane; i < n; i += lanes) {"
               "            for (unsigned j = k + 1; j <= i; j++) {"
               "                a[i * n + j] -= a[i * n + k] * a[j * n + k];"
               "            }"
               "        }"
               "        barrier(CLK_GLOBAL_MEM_FENCE);"
               "    }"
               "}"},
    {.name = "trsm",
     .id = 2,
     .function = trsm_on_host,
     .source = "kernel void trsm(global float *x, global const float *l, unsigned n)"
               "{"
               "    size_t i = get_global_id(0);"
               "    for (unsigned j = 0; j < n; j++) {"
               "        float rest = x[i * n + j];"
               "        for (unsigned k = 0; k < j; k++) {"
               "            rest -= x[i * n + k] * l[j * n + k];"
               "        }"
               "        x[i * n + j] = rest / l[j * n + j];"
               "    }"
               "}"},
    {.name = "syrk",
     .id = 3,
     .function = syrk_on_host,
     .source = "kernel void syrk(global float *a, global const float *x, unsigned n)"
               "{"
               "    size_t i = get_global_id(1);"
               "    size_t j = get_global_id(0);"
               "    if (j <= i) {"
               "        float sum = 0;"
               "        for (unsigned k = 0; k < n; k++) {"
               "            sum += x[i * n + k] * x[j * n + k];"
               "        }"
               "        a[i * n + j] -= sum;"
               "    }"
               "}"},
    {.name = "gemm",
     .id = 4,
     .function = gemm_on_host,
     .source = "kernel void gemm(global float *a, global const float *x, global const float *y,"
               "                 unsigned n)"
               "{"
               "    size_t i = get_global_id(1);"
               "    size_t j = get_global_id(0);"
               "    float sum = 0;"
               "    for (unsigned k = 0; k < n; k++) {"
               "        sum += x[i * n + k] * y[j * n + k];"
               "    }"
               "    a[i * n + j] -= sum;"
               "}"},
};

static bool is_near(const void *is, const void *should)
{
    const double expected = *(const float *)should;
    const double larger = fabs(expected) > 1 ? fabs(expected) : 1;
    return fabs((double)*(const float *)is - expected) <= TOLERANCE * larger;
}

static graph factorization = {.name = "cholesky", .unit = "GFLOP", .r = &all, .is_right = is_near};

static double diagonal(size_t rows)
{
    double power = 2;
    while (power * power < 4 * (double)rows) {
        power *= 2;
    }
    return power;
}

/* The factor of tile (row, column). */
static void make_factor(float *to, size_t row, size_t column, uint64_t *seed)
{
    const size_t n = own.tile;
    const float on_diagonal = (float)diagonal(own.tiles * n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const float below = (float)(random_next(seed) % 3) - 1;
            const bool is_below = row > column || i > j;
            to[i * n + j] = is_below ? below : i == j ? on_diagonal : 0;
        }
    }
}

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
            make_factor(graph_expect(&factorization, buffers[i][j]), i, j, &seed);
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

static void add(enum kind kind, uint32_t written, const uint32_t *read, uint32_t read_count)
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
        add(POTRF, buffers[k][k], NULL, 0);
        for (size_t i = k + 1; i < own.tiles; i++) {
            add(TRSM, buffers[i][k], &buffers[k][k], 1);
        }
        for (size_t i = k + 1; i < own.tiles; i++) {
            add(SYRK, buffers[i][i], &buffers[i][k], 1);
            for (size_t j = k + 1; j < i; j++) {
                add(GEMM, buffers[i][j], (const uint32_t[]){buffers[i][k], buffers[j][k]}, 2);
            }
        }
    }
}

static void open_kinds(void)
{
    const size_t n = own.tile;
    const size_t lanes = n < MOST_LANES ? n : MOST_LANES;
    const dynsel_range ranges[KINDS] = {DYNSEL_RANGE(lanes), DYNSEL_RANGE(n), DYNSEL_RANGE_2D(n, n),
                                        DYNSEL_RANGE_2D(n, n)};
    for (int i = 0; i < KINDS; i++) {
        factorization.kinds[i] = (graph_kind){
            .kernel = &kernels[i], .global = ranges[i], .values = {(uint32_t)n}, .value_count = 1};
    }
    factorization.kinds[POTRF].local = DYNSEL_RANGE(lanes);
    factorization.kind_count = KINDS;
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
