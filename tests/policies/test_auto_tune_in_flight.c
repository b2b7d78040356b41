/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What auto_tune learns, at 5 percent exploration, while a program keeps many pieces of work in
 * flight: devices in virtual time that do their work in the order of the submits and mark each end.
 */
#define COPY_EXPLORE_PERCENT 5
#include "policies/auto_tune_copy.h"

#include <dynsel/submission.h>

#include <stdio.h>
#include <string.h>

#include "room.h"
#include "test.h"

enum {
#if CONFIG_DYNSEL_MAX_IN_FLIGHT < 64
    MOST_IN_FLIGHT = CONFIG_DYNSEL_MAX_IN_FLIGHT,
#else
    MOST_IN_FLIGHT = 64,
#endif
    SUBMIT_NS = 1000,
    NO_SPEED = 0 /* work fails there at once */
};

/* A device with the work that it has not ended. */
typedef struct fifo {
    uint64_t run_ns;
    uint64_t free_ns;
    uint32_t tokens[MOST_IN_FLIGHT];
    uint64_t ends_ns[MOST_IN_FLIGHT];
    bool timed[MOST_IN_FLIGHT];
    uint32_t count;
    uint32_t runs;
} fifo;

static dynsel_auto_tune_policy tuner;
static fifo devices[3];
static uint32_t device_count;
static uint64_t now_ns;
/* Of which work the backend tells the end. */
static enum { OF_ALL, OF_TIMED, OF_NONE } ends;
static uint32_t timed_runs;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    fifo *device = work->where->handle;
    if (device->run_ns == NO_SPEED) {
        return dynsel_complete(work->token, DYNSEL_E_TASK, now_ns);
    }
    device->free_ns = (device->free_ns > now_ns ? device->free_ns : now_ns) + device->run_ns;
    device->tokens[device->count] = work->token;
    device->timed[device->count] = (work->wants & DYNSEL_TASK_TIME) != 0;
    timed_runs += device->timed[device->count] ? 1 : 0;
    device->ends_ns[device->count++] = device->free_ns;
    device->runs++;
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_ASPECTS && CONFIG_DYNSEL_ASPECT_GPU && CONFIG_DYNSEL_ASPECT_CPU &&               \
    CONFIG_DYNSEL_ASPECT_HOST
enum { HAS_CLASSES = true };
#define IS_GPU  DYNSEL_ASPECT_BIT(gpu)
#define IS_CPU  DYNSEL_ASPECT_BIT(cpu)
#define IS_HOST DYNSEL_ASPECT_BIT(host)
#else
enum { HAS_CLASSES = false };
#define IS_GPU  0
#define IS_CPU  0
#define IS_HOST 0
#endif

static uint64_t classes[3];

#if CONFIG_DYNSEL_ASPECTS
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    (void)backend;
    device->aspects = (dynsel_aspect_set)classes[(const fifo *)handle - devices];
    return DYNSEL_OK;
}
#endif

static const dynsel_backend_ops fifo_ops = {.name = "fifo",
                                            .reports = DYNSEL_TASK_SUBMISSION |
                                                       DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
#if CONFIG_DYNSEL_ASPECTS
                                            .describe = describe,
#endif
                                            .outlives_submit = true,
                                            .marks_completion = true,
                                            .start = start};
static dynsel_backend fifo_backend = {.ops = &fifo_ops};

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static uint32_t in_flight(void)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < device_count; i++) {
        all += devices[i].count;
    }
    return all;
}

static void end_first(void)
{
    fifo *first = devices;
    for (uint32_t i = 0; i < device_count; i++) {
        if (devices[i].count != 0 &&
            (first->count == 0 || devices[i].ends_ns[0] < first->ends_ns[0])) {
            first = &devices[i];
        }
    }
    assert_true(first->count != 0);
    const bool is_told = ends == OF_ALL || (ends == OF_TIMED && first->timed[0]);
    now_ns = first->ends_ns[0] > now_ns ? first->ends_ns[0] : now_ns;
    assert_status(DYNSEL_OK,
                  dynsel_complete(first->tokens[0], DYNSEL_OK, is_told ? first->ends_ns[0] : 0));
    first->count--;
    (void)memmove(first->tokens, first->tokens + 1, first->count * sizeof first->tokens[0]);
    (void)memmove(first->timed, first->timed + 1, first->count * sizeof first->timed[0]);
    (void)memmove(first->ends_ns, first->ends_ns + 1, first->count * sizeof first->ends_ns[0]);
}

/* Times of runs. */
static void begin(const uint64_t *runs_ns, const uint64_t *of_classes, uint32_t count)
{
    dynsel_resource resources[3];
    const dynsel_options options = {.resources = resources, .count = count};
    device_count = count;
    ends = OF_ALL;
    now_ns = 1;
    for (uint32_t i = 0; i < count; i++) {
        devices[i] = (fifo){.run_ns = runs_ns[i]};
        classes[i] = of_classes != NULL ? of_classes[i] : 0;
        resources[i] = (dynsel_resource){&fifo_backend, &devices[i]};
    }
    tuner.policy = (dynsel_policy){.ops = NULL}; /* whatever the test before left */
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuner, &options, DYNSEL_NEVER_RESAMPLE));
}

static void live(uint32_t runs, uint32_t most_in_flight)
{
    static const dynsel_task task = {.function = nothing, .id = 7};
    for (uint32_t i = 0; i < runs; i++) {
        while (in_flight() >= most_in_flight) {
            end_first();
        }
        now_ns += SUBMIT_NS;
        assert_status(DYNSEL_OK, dynsel_try_submit(&tuner.policy, &task, NULL));
    }
}

/* result: of detached work. */
static void end(dynsel_status result)
{
    while (in_flight() != 0) {
        end_first();
    }
    assert_status(result, dynsel_wait_group(dynsel_get_submission_group(&tuner.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

/* One run in 16 is timed then, and it is queued behind work that is not. */
static void slow_best_down(bool are_all_told, uint32_t most_runs)
{
    static const uint32_t counts[] = {1, 2, 8, 64};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t most = counts[i] < MOST_IN_FLIGHT ? counts[i] : MOST_IN_FLIGHT;
        begin((const uint64_t[]){100000, 200000}, NULL, 2);
        ends = are_all_told ? OF_ALL : OF_TIMED;
        live(2000, most);
        const uint32_t before = devices[0].runs;
        devices[0].run_ns = 1000000;
        live(2000, most);
        printf("%2u in flight: %u runs on the device that became 10 times slower, of 2000\n",
               (unsigned)most, (unsigned)(devices[0].runs - before));
        assert_true(devices[0].runs - before <= most_runs + most);
        end(DYNSEL_OK);
    }
}

static void slowed_best_is_replaced_with_many_in_flight(void **state)
{
    (void)state;
    slow_best_down(true, 60);
}

static void slowed_best_is_replaced_though_ends_of_untimed_work_are_unknown(void **state)
{
    (void)state;
    NEEDS(!CONFIG_DYNSEL_IN_FLIGHT_SMALL);
    slow_best_down(false, 500);
}

static void at_most_one_run_in_eight_is_timed_in_vain(void **state)
{
    (void)state;
    NEEDS(!CONFIG_DYNSEL_IN_FLIGHT_SMALL);
    begin((const uint64_t[]){100000, 10000000}, NULL, 2);
    live(200, 1);
    ends = OF_NONE;
    timed_runs = 0;
    live(1600, 1);
    assert_in_range(timed_runs, 160, 210);
    end(DYNSEL_OK);
}

static void first_burst_goes_to_assumed_fastest_device(void **state)
{
    (void)state;
    NEEDS(HAS_CLASSES && MOST_IN_FLIGHT >= 8);
    static const uint64_t orders[][3] = {
        {IS_HOST, IS_CPU, IS_GPU}, {IS_GPU, IS_HOST, IS_CPU}, {IS_HOST, 0, IS_CPU}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        uint64_t runs_ns[3];
        uint32_t fast = 0;
        for (uint32_t k = 0; k < 3; k++) {
            const bool is_fast = orders[i][k] == IS_GPU || orders[i][k] == 0;
            fast = is_fast ? k : fast;
            runs_ns[k] = is_fast ? 100000 : 10000000;
        }
        begin(runs_ns, orders[i], 3);
        live(100, MOST_IN_FLIGHT);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(devices[k].runs, k == fast ? 96 : 2);
        }
        end(DYNSEL_OK);
    }
}

/* Two of them share it by load. */
static void first_burst_is_spread_over_devices_of_one_class(void **state)
{
    (void)state;
    NEEDS(HAS_CLASSES && MOST_IN_FLIGHT >= 32);
    begin((const uint64_t[]){10000000, 100000000, 10000000},
          (const uint64_t[]){IS_GPU, IS_HOST, IS_GPU}, 3);
    live(32, 32);
    assert_int_equal(devices[0].runs, 15);
    assert_int_equal(devices[1].runs, 2);
    assert_int_equal(devices[2].runs, 15);
    end(DYNSEL_OK);
}

static void first_burst_avoids_device_whose_runs_failed(void **state)
{
    (void)state;
    NEEDS(HAS_CLASSES && MOST_IN_FLIGHT >= 16);
    begin((const uint64_t[]){10000000, NO_SPEED}, (const uint64_t[]){IS_HOST, IS_GPU}, 2);
    live(16, 16);
    assert_true(devices[0].runs >= 12);
    end(DYNSEL_E_TASK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowed_best_is_replaced_with_many_in_flight),
        cmocka_unit_test(slowed_best_is_replaced_though_ends_of_untimed_work_are_unknown),
        cmocka_unit_test(at_most_one_run_in_eight_is_timed_in_vain),
        cmocka_unit_test(first_burst_goes_to_assumed_fastest_device),
        cmocka_unit_test(first_burst_is_spread_over_devices_of_one_class),
        cmocka_unit_test(first_burst_avoids_device_whose_runs_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
