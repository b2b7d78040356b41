/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish with several threads of the host, which are equal, and sleep when they have had
 * nothing to do for a while.
 */
#include "policies/earliest_finish_parts.h"
#include "policies/finish_world.h"

enum { FIRST, SECOND, KINDS = 8 };

#define US UINT64_C(1000)

/* Kinds of 1 us and more, one piece in flight. */
static void begin(uint32_t workers, uint64_t wake_ns)
{
    w = (world){.count = workers, .in_flight = 1, .random = {test_seed()}};
    for (uint32_t i = 0; i < workers; i++) {
        w.devices[i] = (world_device){
            .what = WORLD_THREAD, .submit_ns = US, .latency_ns = US, .wake_ns = wake_ns};
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            w.times[kind][i].fixed_ns = (1 + 6 * (uint64_t)kind) * US;
        }
    }
    world_begin(-1);
    world_open();
}

static void end(void)
{
    world_drain();
    world_close();
}

/* Pieces of all kinds. Returns how many found their worker asleep. */
static uint32_t run_pieces(uint32_t pieces)
{
    uint32_t wakes = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        uint64_t free_ns[WORLD_MOST_DEVICES];
        memcpy(free_ns, w.free_ns, sizeof free_ns);
        const uint64_t at_ns = w.now_ns;
        const uint32_t there = world_submit(test_random_below(&w.random, KINDS), 1);
        wakes += at_ns - free_ns[there] > w.devices[there].wake_ns ? 1 : 0;
        world_drain();
    }
    return wakes;
}

/* Times differ by chance, so each worker seems to be the faster one for some kinds. */
static void work_stays_on_worker_that_is_awake(void **state)
{
    (void)state;
    begin(2, 50 * US);
    w.jitter_percent = 12;
    (void)run_pieces(1000);
    w.reasons[DYNSEL_REASON_EXPLORING] = 0;
    const uint32_t wakes = run_pieces(2000);
    assert_in_range(wakes, 0, w.reasons[DYNSEL_REASON_EXPLORING] + 10);
    assert_in_range(wakes, 0, 100);
    end();
}

/* Each worker is faster for half of the kinds, by less than it takes to wake it. */
static void short_work_stays_although_another_worker_is_faster(void **state)
{
    (void)state;
    begin(2, 50 * US);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        w.times[kind][FIRST].fixed_ns = (kind % 2 == 0 ? 4 : 2) * US;
        w.times[kind][SECOND].fixed_ns = (kind % 2 == 0 ? 2 : 4) * US;
    }
    (void)run_pieces(1000);
    w.reasons[DYNSEL_REASON_EXPLORING] = 0;
    const uint32_t wakes = run_pieces(2000);
    assert_in_range(wakes, 0, w.reasons[DYNSEL_REASON_EXPLORING] + 100);
    end();
}

/* The first run of a kind on a worker takes longer: its caches have nothing of it. */
static void first_run_does_not_make_work_leave(void **state)
{
    (void)state;
    begin(WORLD_MOST_DEVICES, 50 * US);
    for (uint32_t i = 0; i < WORLD_MOST_DEVICES; i++) {
        w.devices[i].compile_ns = 100 * US;
    }
    const uint32_t wakes = run_pieces(2000);
    assert_in_range(wakes, 0, w.reasons[DYNSEL_REASON_EXPLORING] + 60);
    end();
}

/* To wake it takes longer than it saves in a run. */
static void faster_worker_is_woken(void **state)
{
    (void)state;
    begin(2, 50 * US);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        w.times[kind][FIRST].fixed_ns *= 2;
    }
    (void)run_pieces(1000);
    w.runs[KINDS - 1][SECOND] = 0;
    w.runs[KINDS - 1][FIRST] = 0;
    (void)run_pieces(1000);
    assert_true(w.runs[KINDS - 1][SECOND] > 9 * w.runs[KINDS - 1][FIRST]);
    end();
}

/* One piece in 100 runs well on the first worker alone. The second one is faster for all others: it
 * is woken again each time, once it would have saved as much as that takes. */
static void faster_worker_is_woken_again(void **state)
{
    enum { SPECIAL = KINDS, OTHERS = 99, ROUNDS = 40 };
    (void)state;
    begin(WORLD_MOST_DEVICES, 50 * US);
    for (uint32_t i = 0; i < WORLD_MOST_DEVICES; i++) {
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            w.times[kind][i].fixed_ns = (i == SECOND ? 4 : 8) * US;
        }
        w.times[SPECIAL][i].fixed_ns = (i == FIRST ? 1 : 500) * US;
    }
    (void)run_pieces(2000);
    uint32_t on_second = 0;
    for (uint32_t i = 0; i < ROUNDS * (1 + OTHERS); i++) {
        const bool is_special = i % (1 + OTHERS) == 0;
        const uint32_t kind = is_special ? SPECIAL : test_random_below(&w.random, KINDS);
        on_second += world_submit(kind, 1) == SECOND && !is_special ? 1 : 0;
        world_drain();
    }
    assert_in_range(on_second, ROUNDS * OTHERS * 3 / 4, ROUNDS * OTHERS);
    end();
}

static void slower_worker_is_learned(void **state)
{
    (void)state;
    begin(2, 0);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        w.times[kind][SECOND].fixed_ns *= 4;
    }
    (void)run_pieces(1000);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        assert_in_range(w.runs[kind][SECOND], 0, 12);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_stays_on_worker_that_is_awake),
        cmocka_unit_test(short_work_stays_although_another_worker_is_faster),
        cmocka_unit_test(first_run_does_not_make_work_leave),
        cmocka_unit_test(faster_worker_is_woken),
        cmocka_unit_test(faster_worker_is_woken_again),
        cmocka_unit_test(slower_worker_is_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
