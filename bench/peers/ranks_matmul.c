/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starpu-ranks-matmul: bench-ranks-matmul through StarPU-MPI, as its manual has it: every rank
 * inserts all tasks, a task runs on the rank that owns what it writes, and the tiles belong to the
 * ranks in blocks in both dimensions (2D block cyclic). All ranks work, rank 0, too.
 */
#define CL_TARGET_OPENCL_VERSION 120

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>
#include <starpu_mpi.h>

#include "../measure.h"
#include "../usecases/log.h"
#include "../usecases/matmul_kernel.h"
#include "../usecases/matmul_tiles.h"
#include "../usecases/memory.h"
#include "../usecases/ranks.h"
#include "starpu_peer.h"

static const char *const ABOUT =
    "bench-ranks-matmul through StarPU-MPI: a task for each product of two tiles, on the rank that "
    "owns the\ntile of C; the tiles belong to the ranks in turn, in both dimensions. Each pass "
    "multiplies twice: with data\nfrom rank 0 and back there, and again where the data are then. "
    "Every row of C is checked after each.";

static const char *const NOTES =
    "Start it with mpirun. STARPU_WORKERS_NOBIND=1 leaves the binding of ranks on one machine to "
    "mpirun;\nSTARPU_OPENCL_ON_CPUS=1 allows OpenCL on processors. Devices are numbers (0,1), or "
    "none. Exit status: 0; 1\nwhen a result is wrong; 2 for a wrong command line, or without a "
    "worker.\n";

enum { MOST_BUFFERS = MATMUL_MATRICES * RANKS_MOST_TILES * RANKS_MOST_TILES };

static ranks_options options = {
    .tiles = 4, .tile = 128, .passes = 5, .workers = 1, .seed = 1, .devices = "none"};
static const char *scheduler = "eager";

static const argument own_options[] = {
    {.name = "--scheduler", .value = "NAME", .help = "StarPU's", .text = &scheduler},
    {.name = NULL}};

typedef struct tile {
    starpu_data_handle_t handle;
    float *initial;    /* of rank 0 */
    const float *data; /* of rank 0, while it looks at them */
    int owner;         /* while the ranks work; before and after, rank 0 */
} tile;

static tile tiles[MOST_BUFFERS];
static int rank;
static int rank_count;
static atomic_int moving; /* tiles that send() moves */
static uint64_t check_seed;

static void matmul_on_host(void *const data[], const peer_call *call)
{
    matmul_add(data[0], data[1], data[2], call->values[0].u);
}

static peer_kernel matmul = {
    .name = "matmul",
    .source = MATMUL_SOURCE,
    .host = matmul_on_host,
    .buffers = MATMUL_MATRICES,
    .values = 1,
    .modes = {STARPU_RW, STARPU_R, STARPU_R},
};

static peer_call call = {.kernel = &matmul};

static size_t buffer_count(void)
{
    return MATMUL_MATRICES * options.tiles * options.tiles;
}

static tile *tile_of(int matrix, size_t row, size_t column)
{
    return &tiles[((size_t)matrix * options.tiles + row) * options.tiles + column];
}

static const float *elements_of(int matrix, size_t row, size_t column)
{
    const tile *t = tile_of(matrix, row, column);
    return matrix == MATMUL_C ? t->data : t->initial;
}

/* The rows of the grid of ranks: as square as it can be. */
static int grid_rows(void)
{
    int rows = 1;
    for (int i = 1; i * i <= rank_count; i++) {
        rows = rank_count % i == 0 ? i : rows;
    }
    return rows;
}

static void open_matrices(void)
{
    const size_t elements = options.tile * options.tile;
    const size_t rows = (size_t)grid_rows();
    const size_t columns = (size_t)rank_count / rows;
    uint64_t seed = options.seed;
    for (size_t i = 0; i < buffer_count(); i++) {
        tile *t = &tiles[i];
        const size_t row = i / options.tiles % options.tiles;
        t->owner = (int)(row % rows * columns + i % options.tiles % columns);
        starpu_vector_data_register(&t->handle, -1, 0, (uint32_t)elements, sizeof(float));
        starpu_mpi_data_register(t->handle, (starpu_mpi_tag_t)i, 0);
        if (rank == 0) {
            t->initial = memory_allocate(elements * sizeof(float));
            if (i < MATMUL_C * options.tiles * options.tiles) {
                matmul_tiles_fill(t->initial, elements, &seed);
            }
        }
    }
}

static void close_matrices(void)
{
    for (size_t i = 0; i < buffer_count(); i++) {
        starpu_data_unregister(tiles[i].handle);
        free(tiles[i].initial);
    }
}

static void note_end(void *unused)
{
    (void)unused;
    atomic_fetch_sub(&moving, 1);
}

/* Not starpu_mpi_wait_for_all() nor starpu_mpi_barrier(): StarPU 1.3.10's thread for MPI blocks in
 * their barrier, also where a message that another rank waits for is still to be received. */
static void wait_for_all(void)
{
    static const struct timespec shortly = {.tv_nsec = 20000};
    log_check(starpu_task_wait_for_all() == 0, "starpu_task_wait_for_all");
    while (atomic_load(&moving) != 0) {
        (void)nanosleep(&shortly, NULL);
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

/* From one rank to another, in order with the tasks. */
static void send(const tile *t, int from, int to)
{
    const starpu_mpi_tag_t tag = starpu_mpi_data_get_tag(t->handle);
    if (from == to || (rank != from && rank != to)) {
        return;
    }
    atomic_fetch_add(&moving, 1);
    if (rank == from) {
        (void)starpu_mpi_isend_detached(t->handle, to, tag, MPI_COMM_WORLD, note_end, NULL);
    } else {
        (void)starpu_mpi_irecv_detached(t->handle, from, tag, MPI_COMM_WORLD, note_end, NULL);
    }
}

/* All copies of other ranks are forgotten: rank 0 owns all tiles. */
static void renew_all(void)
{
    starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
    wait_for_all();
    for (size_t i = 0; i < buffer_count(); i++) {
        starpu_mpi_data_set_rank(tiles[i].handle, 0);
        if (rank == 0) {
            peer_acquire(tiles[i].handle, STARPU_W);
            (void)memcpy((void *)starpu_vector_get_local_ptr(tiles[i].handle), tiles[i].initial,
                         options.tile * options.tile * sizeof(float));
            starpu_data_release(tiles[i].handle);
        }
    }
    wait_for_all();
}

static void spread(void)
{
    for (size_t i = 0; i < buffer_count(); i++) {
        send(&tiles[i], 0, tiles[i].owner);
        starpu_mpi_data_set_rank(tiles[i].handle, tiles[i].owner);
    }
}

static void insert(tile *c, tile *a, tile *b)
{
    if (starpu_mpi_task_insert(MPI_COMM_WORLD, &matmul.codelet, STARPU_RW, c->handle, STARPU_R,
                               a->handle, STARPU_R, b->handle, STARPU_CL_ARGS_NFREE, &call,
                               sizeof call, 0) != 0) {
        log_exit(STATUS_FAILED, "no worker takes the task");
    }
}

static void multiply(void)
{
    for (size_t k = 0; k < options.tiles; k++) {
        for (size_t i = 0; i < options.tiles; i++) {
            for (size_t j = 0; j < options.tiles; j++) {
                insert(tile_of(MATMUL_C, i, j), tile_of(MATMUL_A, i, k), tile_of(MATMUL_B, k, j));
            }
        }
    }
}

/* To rank 0; the owners keep them. */
static void bring(void)
{
    for (size_t i = MATMUL_C * options.tiles * options.tiles; i < buffer_count(); i++) {
        send(&tiles[i], tiles[i].owner, 0);
    }
}

static void check(unsigned times)
{
    const matmul_tiles all = {.tiles = options.tiles, .tile = options.tile, .tile_at = elements_of};
    const size_t first = MATMUL_C * options.tiles * options.tiles;
    for (size_t i = first; i < buffer_count(); i++) {
        peer_acquire(tiles[i].handle, STARPU_R);
        tiles[i].data = (const float *)starpu_vector_get_local_ptr(tiles[i].handle);
    }
    const size_t row = matmul_tiles_wrong_row(&all, times, &check_seed);
    if (row != options.tiles * options.tile) {
        log_exit(STATUS_FAILED, "a wrong result: row %zu of C after %u products", row, times);
    }
    for (size_t i = first; i < buffer_count(); i++) {
        starpu_data_release(tiles[i].handle);
    }
}

static void do_pass(ranks_times *times, uint64_t pass)
{
    renew_all();
    uint64_t began = measure_now_ns();
    spread();
    multiply();
    bring();
    wait_for_all();
    times->there_and_back_ns[pass] = (double)(measure_now_ns() - began);
    if (rank == 0) {
        check(1);
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    began = measure_now_ns();
    multiply();
    wait_for_all();
    times->stay_ns[pass] = (double)(measure_now_ns() - began);
    bring();
    wait_for_all();
    if (rank == 0) {
        check(2);
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(void)
{
    static ranks_times times;
    check_seed = options.seed;
    call.values[0].u = (uint32_t)options.tile;
    call.global[0] = options.tile;
    call.global[1] = options.tile;
    peer_prepare(&matmul);
    open_matrices();
    for (uint64_t pass = 0; pass < options.passes; pass++) {
        do_pass(&times, pass);
    }
    if (rank == 0) {
        (void)printf("StarPU-MPI, %s, %d ranks of %u workers: %zu products of tiles of %u x %u\n",
                     scheduler, rank_count, starpu_worker_get_count(),
                     (size_t)(options.tiles * options.tiles * options.tiles),
                     (unsigned)options.tile, (unsigned)options.tile);
        ranks_print_rates(&options, &times);
    }
    close_matrices();
    peer_release(&matmul);
}

/* Those that every rank sent, in all passes, its preparations included. */
static void print_moved(void)
{
    size_t amounts[STARPU_NMAXWORKERS * STARPU_NMAXWORKERS] = {0};
    double sent = 0;
    double all = 0;
    starpu_mpi_comm_amounts_retrieve(amounts);
    for (int i = 0; i < rank_count; i++) {
        sent += (double)amounts[i] / 1e6 / (double)options.passes;
    }
    (void)MPI_Reduce(&sent, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        (void)printf("\n  %.2f MB moved each pass, both results included\n", all);
    }
}

static void start(void)
{
    char device[16];
    peer_options peer = {.scheduler = scheduler,
                         .devices = options.devices,
                         .workers = options.workers,
                         .seed = options.seed};
    if (options.device_by_rank != 0) {
        (void)snprintf(device, sizeof device, "%d", rank);
        peer.devices = device;
    }
    peer_start(&peer);
    log_check(starpu_mpi_init_comm(NULL, NULL, 0, MPI_COMM_WORLD) == 0, "starpu_mpi_init_comm");
}

int main(int argc, char **argv)
{
    int level = 0;
    log_set_program("starpu-ranks-matmul");
    ranks_parse(
        argc, argv,
        &(arguments){.program = log_program(), .about = ABOUT, .notes = NOTES, .own = own_options},
        &options, STARPU_MAXCPUS);
    (void)setenv("STARPU_COMM_STATS", "1", 1); /* for print_moved() */
    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    start();
    measure();
    print_moved();
    (void)starpu_mpi_shutdown();
    starpu_shutdown();
    (void)MPI_Finalize();
    return EXIT_SUCCESS;
}
