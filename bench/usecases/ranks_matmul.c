/* SPDX-License-Identifier: Apache-2.0 */
/* bench-ranks-matmul: a tiled product of matrices over the resources of all ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "../measure.h"
#include "../policies.h"
#include "log.h"
#include "matmul_graph.h"
#include "matmul_tiles.h"
#include "memory.h"
#include "ranks.h"
#include "resources.h"

static const char *const ABOUT =
    "The product of two matrices in tiles, C += A * B, over the resources of all ranks of an MPI "
    "program: a\ncommand group for each product of two tiles. Rank 0 has the matrices, chooses, "
    "and works only with --own;\nthe other ranks serve. Each pass multiplies twice: with data from "
    "rank 0 and back there, and again where\nthe data are then. Every row of C is checked after "
    "each.";

static const char *const NOTES =
    "Start it with mpirun: mpirun -n 4 bench-ranks-matmul. Without workers and devices the thread "
    "that serves\ndoes the work. Exit status: 0; 1 when a result is wrong or a rank fails; 2 for a "
    "wrong command line.\n";

_Static_assert((int)RANKS_MOST_TILES <= (int)MATMUL_GRAPH_MOST_TILES, "CONF=usecases has the room");

enum { MOST_RANKS = CONFIG_DYNSEL_MPI_RANKS, FOR_EACH_COPY = 4096, MEMORY_MORE = 1 << 20 };

static ranks_options options = {
    .tiles = 4, .tile = 128, .passes = 5, .workers = 1, .seed = 1, .devices = "none"};
static const char *policy_name = "earliest_finish";
static uint64_t own;

static const argument own_options[] = {
    {.name = "--policy", .value = "NAME", .help = "what chooses", .text = &policy_name},
    {.name = "--own", .help = "rank 0 works, too", .number = &own},
    {.name = NULL}};

static resources all; /* of rank 0: that it chooses from; of others: that they offer */
static graph product = {.name = "matmul", .unit = "GFLOP", .r = &all};
static uint64_t pieces_on[RESOURCES_MOST];
static uint64_t check_seed;

/* The resources of this rank. */
static void find_resources(int rank)
{
    const usecase_options wanted = {.devices = options.devices, .workers = options.workers};
    const bool only_host = options.workers == 0 && strcmp(options.devices, "none") == 0;
    resources_find(&all, &wanted, only_host, 1);
    const size_t devices = all.count - all.first_device;
    if (options.device_by_rank != 0 && devices > 1) {
        const size_t turn = own != 0 ? (size_t)rank : (size_t)rank - 1; /* rank 0 has none */
        all.table[all.first_device] = all.table[all.first_device + turn % devices];
        all.count = all.first_device + 1;
    }
}

static const bench_policy *open_policy(void)
{
    const dynsel_options given = {.resources = all.table, .count = all.count};
    for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
        if (strcmp(p->name, policy_name) == 0) {
            log_check(p->init(&given, 0) == DYNSEL_OK, p->name);
            return p;
        }
    }
    log_exit(STATUS_USAGE, "--policy: there is no '%s'", policy_name);
}

static uint32_t buffer_of(int matrix, size_t row, size_t column)
{
    return matmul_graph_buffer(options.tiles, (size_t)matrix, row, column);
}

/* With the data on the host, where the host has looked at them. */
static const float *tile_at(int matrix, size_t row, size_t column)
{
    const graph_buffer *b = &product.buffers[buffer_of(matrix, row, column)];
    return matrix == MATMUL_C ? b->data : b->initial;
}

static void multiply(dynsel_policy *policy)
{
    for (size_t i = 0; i < product.piece_count; i++) {
        graph_submit(&product, policy, i);
    }
    log_check(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK, "the product");
}

static void bring(void)
{
    for (uint32_t i = buffer_of(MATMUL_C, 0, 0); i < product.buffer_count; i++) {
        dynsel_host_accessor seen = {0};
        log_check(dynsel_host_accessor_open(&seen, product.buffers[i].handle, DYNSEL_ACCESS_READ) ==
                      DYNSEL_OK,
                  "the result");
        log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "the result");
    }
}

static void check(unsigned times)
{
    const matmul_tiles tiles = {.tiles = options.tiles, .tile = options.tile, .tile_at = tile_at};
    const size_t row = matmul_tiles_wrong_row(&tiles, times, &check_seed);
    if (row != options.tiles * options.tile) {
        log_exit(STATUS_FAILED, "a wrong result: row %zu of C after %u products", row, times);
    }
}

static void do_pass(dynsel_policy *policy, ranks_times *times, uint64_t pass)
{
    for (uint32_t i = 0; i < product.buffer_count; i++) {
        graph_renew(&product, i);
    }
    uint64_t began = measure_now_ns();
    multiply(policy);
    bring();
    times->there_and_back_ns[pass] = (double)(measure_now_ns() - began);
    check(1);
    began = measure_now_ns();
    multiply(policy);
    times->stay_ns[pass] = (double)(measure_now_ns() - began);
    bring();
    check(2);
}

static void count_pieces(const dynsel_policy *policy)
{
    for (size_t i = 0; i < all.count; i++) {
        dynsel_resource_statistics counts = {0};
        log_check(dynsel_get_statistics(policy, i, &counts) == DYNSEL_OK, "the statistics");
        pieces_on[i] = counts.submitted;
    }
}

/* A rank has one memory, whatever its resources. */
static void print_rank(uint32_t rank, double *moved, double *passed)
{
    dynsel_movement movement = {0};
    size_t count = 0;
    uint64_t pieces = 0;
    for (size_t i = 0; i < all.count; i++) {
        if (dynsel_mpi_rank_of(&all.table[i]) == rank) {
            log_check(dynsel_domain_movement(&all.table[i], &movement) == DYNSEL_OK, "movement");
            pieces += pieces_on[i];
            count++;
        }
    }
    if (count == 0) {
        return;
    }
    const double in = (double)movement.bytes_in / 1e6 / (double)options.passes;
    const double out = (double)movement.bytes_out / 1e6 / (double)options.passes;
    const double between = (double)movement.bytes_passed / 1e6 / (double)options.passes;
    const double share = (double)pieces / (double)(2 * options.passes * product.piece_count);
    (void)printf("  %4u %9zu %7.1f %% %10.2f %10.2f %10.2f\n", (unsigned)rank, count, 100 * share,
                 in, out, between);
    *moved += in + out;
    *passed += between / 2; /* both ranks count it */
}

static void print_ranks(void)
{
    double moved = 0;
    double passed = 0;
    (void)printf("\n  rank resources     share      MB in     MB out  MB passed (each pass)\n");
    for (uint32_t rank = 0; rank < MOST_RANKS; rank++) {
        print_rank(rank, &moved, &passed);
    }
    (void)printf("  together %.2f MB from and to rank 0, and %.2f MB passed between others\n",
                 moved, passed);
}

static void add_remote(void)
{
    size_t found = 0;
    log_check(dynsel_mpi_resources(0, NULL, 0, &found) == DYNSEL_OK, "dynsel_mpi_resources");
    if (found > RESOURCES_MOST - all.count) {
        log_exit(STATUS_USAGE, "there are more than %d resources", RESOURCES_MOST);
    }
    if (found != 0) {
        log_check(dynsel_mpi_resources(0, &all.table[all.count], found, &found) == DYNSEL_OK,
                  "dynsel_mpi_resources");
    }
    all.count += found;
}

static void choose(void)
{
    static ranks_times times;
    add_remote();
    const bench_policy *policy = open_policy();
    check_seed = options.seed;
    matmul_graph_open(&product, options.tiles, options.tile, options.seed);
    for (uint64_t pass = 0; pass < options.passes; pass++) {
        do_pass(policy->policy, &times, pass);
    }
    (void)printf("dynsel, %s, %u ranks, %zu resources: %zu products of tiles of %u x %u\n",
                 policy->name, (unsigned)dynsel_mpi_rank_count(), all.count, product.piece_count,
                 (unsigned)options.tile, (unsigned)options.tile);
    ranks_print_rates(&options, &times);
    count_pieces(policy->policy);
    print_ranks();
    log_check(dynsel_policy_deinit(policy->policy) == DYNSEL_OK, "dynsel_policy_deinit");
    graph_close(&product);
    log_check(dynsel_mpi_close() == DYNSEL_OK, "dynsel_mpi_close");
}

static void run(int rank)
{
    static const dynsel_kernel *const kernels[] = {&matmul_graph_kernel};
    dynsel_mpi_options given = {.kernels = kernels, .kernel_count = 1};
    const size_t buffers = MATMUL_MATRICES * options.tiles * options.tiles;
    if (rank != 0 || own != 0) {
        find_resources(rank);
    }
    if (rank != 0) {
        const size_t each = options.tile * options.tile * GRAPH_ELEMENT_BYTES + FOR_EACH_COPY;
        given.memory_bytes = buffers * each + MEMORY_MORE; /* room for all matrices */
        given.memory = memory_allocate(given.memory_bytes);
        given.resources = all.table;
        given.resource_count = all.count;
    }
    log_check(dynsel_mpi_open(&given) == DYNSEL_OK, "dynsel_mpi_open");
    if (rank == 0) {
        choose();
    } else {
        log_check(dynsel_mpi_serve() == DYNSEL_OK, "dynsel_mpi_serve");
        free(given.memory);
    }
    if (rank != 0 || own != 0) {
        resources_close();
    }
}

int main(int argc, char **argv)
{
    int level = 0;
    int rank = 0;
    int count = 0;
    log_set_program(argv[0]);
    ranks_parse(
        argc, argv,
        &(arguments){.program = log_program(), .about = ABOUT, .notes = NOTES, .own = own_options},
        &options, CONFIG_DYNSEL_THREADS_WORKERS);
    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count < 2 && own == 0) {
        (void)MPI_Finalize();
        log_exit(STATUS_USAGE, "one rank only, and it only chooses: start it with mpirun -n 2, or "
                               "with --own");
    }
    run(rank);
    (void)MPI_Finalize();
    return 0;
}
