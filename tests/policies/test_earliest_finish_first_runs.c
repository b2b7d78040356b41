/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where earliest_finish runs kernels of which nothing is known, if a device compiles them first: on
 * a worker where they have few work-items, so that a short program pays for no compilation; in
 * virtual time.
 */
#include "policies/finish_world.h"

enum { PROCESSORS, THREAD, OTHER_THREAD, IN_FLIGHT = 64, FIRST_START_NS = 2000000, KINDS = 4 };

static dynsel_backend_ops compiling[WORLD_CLASSES];

/* A device (a GPU, or so many processors of the host) and workers. */
static void begin(uint32_t what, uint32_t processors, uint32_t devices, uint64_t items)
{
    static const uint32_t classes[] = {WORLD_PROCESSORS, WORLD_THREAD, WORLD_THREAD};
    (void)memset(&w, 0, sizeof w);
    w.count = devices;
    w.in_flight = IN_FLIGHT;
    w.work_items = items;
    for (uint32_t i = 0; i < devices; i++) {
        w.devices[i] = (world_device){.what = i == 0 ? what : classes[i],
                                      .submit_ns = 300,
                                      .latency_ns = 500,
                                      .processors = i == 0 ? processors : 0};
    }
    world_begin(-1);
    w.random.state = 1;
    world_open();
}

static void end(void)
{
    world_drain();
    world_assert_idle();
    world_close();
}

static void all_take(uint32_t kinds, uint64_t device_ns, uint64_t thread_ns)
{
    for (uint32_t kind = 0; kind < kinds; kind++) {
        w.times[kind][PROCESSORS].fixed_ns = device_ns;
        w.times[kind][THREAD].fixed_ns = thread_ns;
        w.times[kind][OTHER_THREAD].fixed_ns = thread_ns;
    }
}

/* A program of 1 ms does not pay 2 ms for each of its kernels. */
static void short_programs_compile_nothing(void **state)
{
    (void)state;
    begin(WORLD_PROCESSORS, 2, 2, 256);
    all_take(KINDS, 5000, 2000);
    for (uint32_t i = 0; i < 400; i++) {
        assert_int_equal(THREAD, world_submit(i % KINDS, 0));
        if (i % 8 == 7) {
            world_drain();
        }
    }
    end();
}

/* However long a compilation takes: the work may take a worker much longer than is assumed. */
static void large_work_begins_on_the_device(void **state)
{
    (void)state;
    static const uint32_t whats[] = {WORLD_PROCESSORS, WORLD_GPU};
    for (uint32_t k = 0; k < 2; k++) {
        compiling[whats[k]].first_start_ns = 50 * FIRST_START_NS;
        for (uint64_t items = 0; items <= 65537; items += 65537) {
            begin(whats[k], 2, 2, items);
            all_take(1, 500000, 900000);
            assert_int_equal(PROCESSORS, world_submit(0, 0));
            end();
        }
        compiling[whats[k]].first_start_ns = FIRST_START_NS;
    }
}

/* It is as if nothing were compiled where the device does not say so. */
static void what_compiles_nothing_begins(void **state)
{
    (void)state;
    world_backends[WORLD_PROCESSORS].ops = &world_ops[WORLD_PROCESSORS];
    begin(WORLD_PROCESSORS, 2, 2, 256);
    all_take(1, 5000, 2000);
    assert_int_equal(PROCESSORS, world_submit(0, 0));
    end();
    world_backends[WORLD_PROCESSORS].ops = &compiling[WORLD_PROCESSORS];
}

/* Few work-items may take long: then a worker does not get all that is in flight. */
static void runs_that_tell_no_time_go_elsewhere(void **state)
{
    (void)state;
    begin(WORLD_PROCESSORS, 64, 2, 128);
    all_take(1, 20000, 10000000);
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        (void)world_submit(0, 0);
    }
    assert_in_range(w.runs[0][THREAD], 1, 16);
    end();
}

/* More processors do more items in the time of a compilation; a GPU, than which a worker may be 512
 * times slower, does all. */
static void what_is_much_faster_begins(void **state)
{
    static const struct {
        uint32_t what;
        uint32_t processors;
        uint64_t items;
    } faster[] = {{WORLD_PROCESSORS, 64, 2048}, {WORLD_GPU, 0, 1}};
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        begin(faster[k].what, faster[k].processors, 2, faster[k].items);
        all_take(1, 20000, 10000000);
        assert_int_equal(PROCESSORS, world_submit(0, 0));
        end();
    }
}

static void workers_share_first_runs(void **state)
{
    (void)state;
    begin(WORLD_PROCESSORS, 2, 3, 256);
    all_take(1, 5000, 2000);
    for (uint32_t i = 0; i < 8; i++) {
        (void)world_submit(0, 0);
    }
    assert_int_equal(4, w.runs[0][THREAD]);
    assert_int_equal(4, w.runs[0][OTHER_THREAD]);
    end();
}

static void compile_at_first_start(const world_piece *piece)
{
    if (piece->is_first && piece->selection.index == PROCESSORS) {
        w.now_ns += FIRST_START_NS;
    }
}

/* The device is assumed to be twice as fast as the worker: it has to save 2 ms of the runs. By 5
 * percent of the runs it would be tried after 400 of them. */
static void compilation_is_paid_by_what_it_saves(void **state)
{
    enum { RUN_NS = 100000, LEAST = 2 * FIRST_START_NS / RUN_NS, MOST = 3 * LEAST };
    (void)state;
    begin(WORLD_PROCESSORS, 2, 2, 4096);
    w.in_flight = 1;
    all_take(1, RUN_NS / 2, RUN_NS);
    w.submitted = compile_at_first_start;
    uint32_t runs = 0;
    while (w.runs[0][PROCESSORS] == 0 && runs < 1000) {
        (void)world_submit(0, 0);
        world_drain();
        runs++;
    }
    assert_in_range(runs, LEAST, MOST);
    for (uint32_t i = 0; i < 200; i++) {
        (void)world_submit(0, 0);
        world_drain();
    }
    assert_true(w.runs[0][PROCESSORS] > 100);
    end();
}

static int setup(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORLD_CLASSES; i++) {
        compiling[i] = world_ops[i];
        compiling[i].first_start_ns = i == WORLD_GPU || i == WORLD_PROCESSORS ? FIRST_START_NS : 0;
        world_backends[i].ops = &compiling[i];
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_programs_compile_nothing),
        cmocka_unit_test(large_work_begins_on_the_device),
        cmocka_unit_test(what_compiles_nothing_begins),
        cmocka_unit_test(runs_that_tell_no_time_go_elsewhere),
        cmocka_unit_test(what_is_much_faster_begins),
        cmocka_unit_test(workers_share_first_runs),
        cmocka_unit_test(compilation_is_paid_by_what_it_saves),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
