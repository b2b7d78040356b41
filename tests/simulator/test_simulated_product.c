/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish on a product of matrices in tiles, C += A * B, over devices with memories of
 * their own, to which a copy of a tile takes about as long as a product of two: how fast it is,
 * compared with the fastest device alone. The matrices are on the host at first. Each pass
 * multiplies twice: from the host and back there, and again where the tiles are then.
 */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <stdio.h>
#include <string.h>

#include "test.h"

enum {
    MOST_DEVICES = 4,
    MOST_TILES = 8,
    MATRICES = 3,
    TILE = 1024,
    PASSES = 6,
    LEARNED = 2, /* passes before those that count */
    MOST_IN_FLIGHT = 64,
    RUN_NS = 430000,   /* of two tiles on a GPU, as measured */
    LOCAL_NS = 20000,  /* for a MiB, on the bus */
    REMOTE_NS = 175000 /* for a MiB, through shared memory to another rank */
};

enum { A, B, C };

/* The devices and the work, and what it must reach. */
typedef struct machine {
    const char *name;
    uint32_t count;
    uint32_t tiles;     /* in each dimension */
    uint32_t tile;      /* elements in each dimension; 0: TILE */
    uint32_t run_ns;    /* of two tiles, on the fastest; 0: RUN_NS */
    uint32_t submit_ns; /* 0: 6000 */
    uint32_t passes;    /* 0: PASSES */
    uint64_t mib_ns[MOST_DEVICES];
    uint32_t times[MOST_DEVICES]; /* a run takes so many times run_ns */
    bool has_processors;          /* the last device is the host's processors */
    bool by_tile;                 /* all products for one tile of C come one after the other */
    uint32_t in_flight;           /* 0: as many as there is room for */
    double from_host;             /* times as fast as the fastest device alone */
    double again;
} machine;

static uint32_t passes_of(const machine *it)
{
    return it->passes != 0 ? it->passes : PASSES;
}

static const machine *at;
static dynsel_simulated_device devices[MOST_DEVICES];
static dynsel_resource resources[MOST_DEVICES];
static float data[TILE][TILE]; /* of all tiles: nothing is computed */
static dynsel_buffer buffers[MATRICES][MOST_TILES][MOST_TILES];
static dynsel_submission submissions[MOST_IN_FLIGHT];

static dynsel_status run(const dynsel_launch *launch)
{
    (void)launch;
    const uint64_t run_ns = at->run_ns != 0 ? at->run_ns : RUN_NS;
    dynsel_simulated_spend(at->times[dynsel_simulated_running() - devices] * run_ns);
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {.name = "product", .id = 1, .function = run};

typedef struct piece {
    uint32_t row;
    uint32_t column;
    uint32_t step;
} piece;

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const piece *it = args;
    const dynsel_buffer uses[MATRICES] = {buffers[C][it->row][it->column],
                                          buffers[A][it->row][it->step],
                                          buffers[B][it->step][it->column]};
    for (uint32_t i = 0; i < MATRICES; i++) {
        dynsel_accessor accessor;
        dynsel_get_access(handler, uses[i], i == 0 ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ,
                          DYNSEL_MEMORY_GLOBAL, &accessor);
        dynsel_set_arg_accessor(handler, i, &accessor);
    }
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE_2D(TILE, TILE), NULL, NULL);
}

static dynsel_buffer *buffer_at(uint32_t matrix, uint32_t number)
{
    return &buffers[matrix][number / at->tiles][number % at->tiles];
}

static void access_matrix(uint32_t matrix, dynsel_access_mode mode)
{
    for (uint32_t i = 0; i < at->tiles * at->tiles; i++) {
        dynsel_host_accessor accessor = {0};
        assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, *buffer_at(matrix, i), mode));
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    }
}

static piece piece_at(uint32_t number)
{
    const uint32_t slow = number / at->tiles / at->tiles;
    const uint32_t middle = number / at->tiles % at->tiles;
    const uint32_t fast = number % at->tiles;
    return at->by_tile ? (piece){.row = slow, .column = middle, .step = fast}
                       : (piece){.row = middle, .column = fast, .step = slow};
}

/* Waits for the oldest piece before the next one, where so many are in flight. */
static void submit(dynsel_policy *policy, uint32_t number)
{
    piece it = piece_at(number);
    dynsel_submission *submission = NULL;
    if (at->in_flight != 0) {
        submission = &submissions[number % at->in_flight];
        if (number >= at->in_flight) {
            assert_status(DYNSEL_OK, dynsel_wait(submission));
        }
        *submission = (dynsel_submission){0};
    }
    assert_status(DYNSEL_OK, dynsel_submit_command_group(policy, record, &it, submission));
}

static void multiply(dynsel_policy *policy)
{
    for (uint32_t i = 0; i < at->tiles * at->tiles * at->tiles; i++) {
        submit(policy, i);
    }
    for (uint32_t i = 0; i < at->in_flight; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
}

/* Over the passes that count. */
typedef struct result {
    uint64_t from_host_ns;
    uint64_t again_ns;
} result;

static result play(dynsel_policy *policy)
{
    result taken = {0, 0};
    for (uint32_t pass = 0; pass < passes_of(at); pass++) {
        for (uint32_t matrix = 0; matrix < MATRICES; matrix++) {
            access_matrix(matrix, DYNSEL_ACCESS_DISCARD_WRITE);
        }
        const uint64_t begin_ns = dynsel_now_ns();
        multiply(policy);
        access_matrix(C, DYNSEL_ACCESS_READ);
        const uint64_t middle_ns = dynsel_now_ns();
        multiply(policy);
        if (pass >= LEARNED) {
            taken.from_host_ns += middle_ns - begin_ns;
            taken.again_ns += dynsel_now_ns() - middle_ns;
        }
        access_matrix(C, DYNSEL_ACCESS_READ);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    return taken;
}

static void begin(void)
{
    dynsel_simulated_restart();
    (void)memset(devices, 0, sizeof devices);
    for (uint32_t i = 0; i < at->count; i++) {
        devices[i] =
            (dynsel_simulated_device){.name = "gpu",
                                      .aspects = DYNSEL_ASPECT_BIT(gpu),
                                      .memory = i + 1,
                                      .submit_ns = at->submit_ns != 0 ? at->submit_ns : 6000,
                                      .latency_ns = 12000,
                                      .transfer_ns = 10000,
                                      .mib_ns = at->mib_ns[i]};
        if (at->has_processors && i == at->count - 1) {
            devices[i].aspects = DYNSEL_ASPECT_BIT(cpu);
            devices[i].memory = 0;
        }
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    const size_t tile = at->tile != 0 ? at->tile : TILE;
    for (uint32_t i = 0; i < MATRICES * at->tiles * at->tiles; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(buffer_at(i % MATRICES, i / MATRICES), data,
                                                    sizeof data[0][0], DYNSEL_RANGE(tile * tile)));
    }
}

static void end(void)
{
    for (uint32_t i = 0; i < MATRICES * at->tiles * at->tiles; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(buffer_at(i % MATRICES, i / MATRICES)));
    }
}

static result play_alone(void)
{
    static dynsel_fixed_resource_policy fixed;
    begin();
    (void)memset(&fixed, 0, sizeof fixed);
    const dynsel_options all = {.resources = resources, .count = at->count};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &all, 0));
    const result taken = play(&fixed.policy);
    end();
    return taken;
}

static result play_with_finisher(void)
{
    static dynsel_earliest_finish_policy finisher;
    begin();
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    const dynsel_options all = {.resources = resources, .count = at->count};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    const result taken = play(&finisher.policy);
    end();
    return taken;
}

/* The first device is the fastest. */
static void compare(const machine *it)
{
    at = it;
    const result alone = play_alone();
    const result taken = play_with_finisher();
    const double from_host = (double)alone.from_host_ns / (double)taken.from_host_ns;
    const double again = (double)alone.again_ns / (double)taken.again_ns;
    uint64_t bytes = 0;
    (void)printf("%-34s from the host %.2f, again %.2f; pieces", it->name, from_host, again);
    for (uint32_t i = 0; i < it->count; i++) {
        (void)printf(" %llu", (unsigned long long)devices[i].pieces);
        bytes += devices[i].bytes;
    }
    (void)printf("; %.0f MB moved in a pass\n", (double)bytes / 1e6 / passes_of(at));
    assert_true(from_host >= it->from_host);
    assert_true(again >= it->again);
}

static void ranks_share_tiles(void **state)
{
    (void)state;
    compare(&(machine){.name = "a GPU of its own, one of a rank",
                       .count = 2,
                       .tiles = 8,
                       .times = {1, 1},
                       .mib_ns = {LOCAL_NS, REMOTE_NS},
                       .from_host = 1.35,
                       .again = 1.85});
    compare(&(machine){.name = "the same, 7 x 7 tiles",
                       .count = 2,
                       .tiles = 7,
                       .times = {1, 1},
                       .mib_ns = {LOCAL_NS, REMOTE_NS},
                       .from_host = 1.2,
                       .again = 1.85});
    compare(&(machine){.name = "GPUs of two ranks",
                       .count = 2,
                       .tiles = 8,
                       .times = {1, 1},
                       .mib_ns = {REMOTE_NS, REMOTE_NS},
                       .from_host = 1.55,
                       .again = 1.8});
    compare(&(machine){.name = "GPUs of four ranks",
                       .count = 4,
                       .tiles = 8,
                       .times = {1, 1, 1, 1},
                       .mib_ns = {REMOTE_NS, REMOTE_NS, REMOTE_NS, REMOTE_NS},
                       .from_host = 2,
                       .again = 3.5});
}

static void devices_of_one_machine_share_tiles(void **state)
{
    (void)state;
    compare(&(machine){.name = "two GPUs",
                       .count = 2,
                       .tiles = 8,
                       .times = {1, 1},
                       .mib_ns = {LOCAL_NS, LOCAL_NS},
                       .from_host = 1.9,
                       .again = 1.95});
    compare(&(machine){.name = "two GPUs, 3 x 3 tiles",
                       .count = 2,
                       .tiles = 3,
                       .times = {1, 1},
                       .mib_ns = {LOCAL_NS, LOCAL_NS},
                       .from_host = 1.6,
                       .again = 1.6});
    compare(&(machine){.name = "two GPUs, 16 in flight",
                       .count = 2,
                       .tiles = 8,
                       .times = {1, 1},
                       .mib_ns = {LOCAL_NS, LOCAL_NS},
                       .in_flight = 16,
                       .from_host = 1.8,
                       .again = 1.9});
    compare(&(machine){.name = "two GPUs, tile after tile",
                       .count = 2,
                       .tiles = 8,
                       .times = {1, 1},
                       .mib_ns = {LOCAL_NS, LOCAL_NS},
                       .by_tile = true,
                       .from_host = 1.8,
                       .again = 1.9});
    compare(&(machine){.name = "two GPUs, one takes 3 times as long",
                       .count = 2,
                       .tiles = 8,
                       .times = {1, 3},
                       .mib_ns = {LOCAL_NS, LOCAL_NS},
                       .from_host = 1.2,
                       .again = 1.25});
    compare(&(machine){.name = "four GPUs",
                       .count = 4,
                       .tiles = 8,
                       .times = {1, 1, 1, 1},
                       .mib_ns = {LOCAL_NS, LOCAL_NS, LOCAL_NS, LOCAL_NS},
                       .from_host = 3.3,
                       .again = 3.6});
}

/* They take so long that the GPU is better off alone: 192 x 192 elements, as measured. */
static void slow_processors_do_not_delay_a_gpu(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        compare(&(machine){.name = "a GPU, slow processors",
                           .count = 2,
                           .tiles = 6,
                           .tile = 192,
                           .run_ns = 16000,
                           .submit_ns = 2000,
                           .passes = 40,
                           .times = {1, i % 2 == 0 ? 45 : 85},
                           .mib_ns = {LOCAL_NS, 0},
                           .has_processors = true,
                           .by_tile = i >= 2,
                           .from_host = 0.95,
                           .again = 0.95});
    }
}

/* A product on them ends a little before the GPU would do it. But then the program, which gives the
 * GPU the next ones, shares its processor with a part of that run, and both take longer. */
static void all_processors_get_no_work_that_a_gpu_does_nearly_as_soon(void **state)
{
    (void)state;
    compare(&(machine){.name = "a GPU, processors for long queues",
                       .count = 2,
                       .tiles = 6,
                       .tile = 192,
                       .run_ns = 14000,
                       .submit_ns = 4000,
                       .passes = 40,
                       .times = {1, 52},
                       .mib_ns = {LOCAL_NS, 0},
                       .has_processors = true,
                       .from_host = 0.99,
                       .again = 0.99});
    assert_in_range(devices[1].pieces, 1, 20); /* trial runs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_share_tiles),
        cmocka_unit_test(devices_of_one_machine_share_tiles),
        cmocka_unit_test(slow_processors_do_not_delay_a_gpu),
        cmocka_unit_test(all_processors_get_no_work_that_a_gpu_does_nearly_as_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
