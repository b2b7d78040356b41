/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator: virtual time, devices, their memory, and what is lost. */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#include "random.h"
#include "test.h"

enum { DEVICES = 3, GPU = 0, OTHER = 1, HOST = 2, ELEMENTS = 1 << 18 };

#define US UINT64_C(1000)

static dynsel_simulated_device devices[DEVICES];
static dynsel_resource resources[DEVICES];
static union {
    dynsel_policy policy;
    dynsel_fixed_resource_policy fixed;
    dynsel_round_robin_policy turns;
} chosen;
static uint64_t run_ns;
static unsigned runs[DEVICES];

static void describe(void)
{
    (void)memset(devices, 0, sizeof devices);
    (void)memset(runs, 0, sizeof runs);
    devices[GPU] = (dynsel_simulated_device){.name = "gpu",
                                             .memory = 1,
                                             .submit_ns = 5 * US,
                                             .latency_ns = 10 * US,
                                             .transfer_ns = 20 * US,
                                             .mib_ns = 40 * US};
    devices[OTHER] = devices[GPU];
    devices[OTHER].name = "other";
    devices[OTHER].memory = 2;
    devices[HOST] = (dynsel_simulated_device){
        .kind = DYNSEL_SIMULATED_THREAD, .submit_ns = US, .latency_ns = 2 * US};
    for (unsigned i = 0; i < DEVICES; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
}

static int set_up(void **state)
{
    (void)state;
    dynsel_simulated_restart();
    describe();
    run_ns = 100 * US;
    return 0;
}

static void use(unsigned device)
{
    (void)memset(&chosen, 0, sizeof chosen);
    const dynsel_options options = {.resources = resources, .count = DEVICES};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&chosen.fixed, &options, device));
}

static void leave(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&chosen.policy));
}

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    assert_ptr_equal(where->handle, dynsel_simulated_running());
    runs[(dynsel_simulated_device *)where->handle - devices]++;
    dynsel_simulated_spend(run_ns);
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = run};

static void wait_for_all(void)
{
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&chosen.policy)));
}

static void host_takes_as_long_as_alone(void)
{
    use(HOST);
    const uint64_t before = dynsel_now_ns();
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&chosen.policy, &task));
    assert_int_equal(dynsel_now_ns() - before, (1 + 100 + 2) * US);
    leave();
}

static void time_passes_when_it_is_spent(void **state)
{
    (void)state;
    assert_null(dynsel_simulated_running());
    assert_int_equal(dynsel_now_ns(), 1);
    dynsel_simulated_spend(500);
    assert_int_equal(dynsel_now_ns(), 501);
}

static void work_takes_submit_run_and_latency(void **state)
{
    (void)state;
    use(GPU);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&chosen.policy, &task));
    assert_int_equal(dynsel_now_ns(), 1 + (5 + 100 + 10) * US);
    assert_int_equal(devices[GPU].pieces, 1);
    assert_int_equal(devices[GPU].busy_ns, 100 * US);
    assert_int_equal(devices[GPU].free_ns, 1 + 105 * US);
    leave();
    host_takes_as_long_as_alone();
}

static void caller_is_blocked(void **state)
{
    (void)state;
    devices[HOST].kind = DYNSEL_SIMULATED_CALLER;
    resources[HOST] = dynsel_simulated_resource(&devices[HOST]);
    use(HOST);
    assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, NULL));
    assert_int_equal(dynsel_now_ns(), 1 + 101 * US);
    wait_for_all();
    assert_int_equal(dynsel_now_ns(), 1 + 101 * US);
    leave();
}

static void device_works_in_order_and_beside_others(void **state)
{
    (void)state;
    (void)memset(&chosen, 0, sizeof chosen);
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&chosen.turns, &options, 0));
    for (int i = 0; i < 8; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, NULL));
    }
    wait_for_all();
    assert_int_equal(runs[GPU], 4);
    assert_int_equal(devices[GPU].free_ns, 1 + 405 * US);
    assert_int_equal(devices[OTHER].free_ns, 1 + 410 * US);
    assert_int_equal(dynsel_now_ns(), 1 + 420 * US);
    leave();
}

/* For 1 us one of them has both processors alone, for 148.5 us they have three threads, and what
 * is left then takes 1 us. */
static void devices_share_processors(void **state)
{
    (void)state;
    (void)memset(&chosen, 0, sizeof chosen);
    dynsel_simulated_share(2);
    devices[OTHER].threads = 2;
    devices[HOST].threads = 1;
    const dynsel_options options = {.resources = &resources[OTHER], .count = 2};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&chosen.turns, &options, 0));
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, NULL));
    }
    assert_int_equal(devices[OTHER].free_ns, 1 + 154 * US + US / 2);
    wait_for_all();
    assert_int_equal(devices[OTHER].free_ns, 1 + 154 * US + US / 2);
    assert_int_equal(devices[HOST].free_ns, 1 + 155 * US + US / 2);
    assert_int_equal(devices[OTHER].busy_ns, 149 * US + US / 2);
    assert_int_equal(devices[HOST].busy_ns, 149 * US + US / 2);
    leave();
}

/* One of them computes on another host. */
static void devices_elsewhere_share_no_processors(void **state)
{
    (void)state;
    (void)memset(&chosen, 0, sizeof chosen);
    dynsel_simulated_share(1);
    devices[OTHER].threads = DYNSEL_PROCESSORS_ELSEWHERE;
    devices[HOST].threads = 1;
    const dynsel_options options = {.resources = &resources[OTHER], .count = 2};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&chosen.turns, &options, 0));
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, NULL));
    }
    wait_for_all();
    assert_int_equal(devices[OTHER].busy_ns, 100 * US);
    assert_int_equal(devices[HOST].busy_ns, 100 * US);
    leave();
}

/* The device has both processors, so a submit of 10 us meanwhile takes the program 15 us, and the
 * device gets two thirds of them then. */
static void program_shares_processors(void **state)
{
    (void)state;
    dynsel_simulated_share_with_program(2);
    devices[OTHER].threads = 2;
    devices[OTHER].submit_ns = 10 * US;
    use(OTHER);
    assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, NULL));
    assert_int_equal(dynsel_now_ns(), 1 + 10 * US);
    const uint64_t alone_ns = devices[OTHER].free_ns;
    dynsel_simulated_spend(10 * US);
    assert_int_equal(dynsel_now_ns(), 1 + 25 * US);
    assert_int_equal(devices[OTHER].free_ns, alone_ns + 5 * US);
    wait_for_all();
    assert_int_equal(devices[OTHER].free_ns, alone_ns + 5 * US);
    leave();
}

/* Its runs leave the processors to the other device. */
static void lost_device_shares_no_processors(void **state)
{
    (void)state;
    dynsel_simulated_share(2);
    devices[OTHER].threads = 2;
    devices[OTHER].lost_ns = 50 * US;
    devices[HOST].threads = 1;
    use(OTHER);
    assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, NULL));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(&chosen.policy)));
    leave();
    host_takes_as_long_as_alone();
}

/* A program that only asks gets to the end, too. */
static void polling_is_waiting(void **state)
{
    (void)state;
    use(GPU);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, &submission));
    unsigned polls = 0;
    while (dynsel_submission_poll(&submission) == DYNSEL_E_AGAIN) {
        assert_true(polls++ < 100);
    }
    assert_int_equal(dynsel_now_ns(), 1 + 115 * US);
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    leave();
}

/* Of other work, too: a program that polls its newest work sees the end of the oldest first. */
static void polling_goes_on_to_next_end(void **state)
{
    (void)state;
    dynsel_submission newest;
    use(GPU);
    for (int i = 0; i < 10; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&chosen.policy, &task, i == 9 ? &newest : NULL));
    }
    const uint64_t submitted_ns = dynsel_now_ns();
    for (uint64_t i = 1; i <= 10; i++) {
        const uint64_t before_ns = dynsel_now_ns();
        while (dynsel_now_ns() == before_ns) {
            const dynsel_status status = dynsel_submission_poll(&newest);
            assert_true(status == DYNSEL_OK || status == DYNSEL_E_AGAIN);
        }
        assert_int_equal(dynsel_now_ns(), 1 + (15 + 100 * i) * US);
    }
    assert_true(dynsel_now_ns() > submitted_ns);
    assert_status(DYNSEL_OK, dynsel_wait(&newest));
    leave();
}

static void first_run_compiles(void **state)
{
    (void)state;
    devices[GPU].compile_ns = 1000 * US;
    use(GPU);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&chosen.policy, &task));
    assert_int_equal(dynsel_now_ns(), 1 + 1115 * US);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&chosen.policy, &task));
    assert_int_equal(dynsel_now_ns(), 1 + 1230 * US);
    leave();
}

static dynsel_status fail_at_once(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

static void failing_function_takes_no_time_on_device(void **state)
{
    (void)state;
    use(GPU);
    const dynsel_task fails = {.function = fail_at_once};
    assert_status(DYNSEL_E_TASK, dynsel_submit_and_wait(&chosen.policy, &fails));
    assert_int_equal(devices[GPU].pieces, 0);
    assert_int_equal(dynsel_now_ns(), 1 + 5 * US);
    leave();
}

static void lost_device_fails_and_refuses(void **state)
{
    (void)state;
    devices[GPU].lost_ns = 50 * US;
    use(GPU);
    assert_status(DYNSEL_E_DEVICE, dynsel_submit_and_wait(&chosen.policy, &task));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit_and_wait(&chosen.policy, &task));
    assert_int_equal(runs[GPU], 1);
    leave();
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/*
 * Command groups.
 */

static float data[ELEMENTS];
static dynsel_buffer buffer;

static dynsel_status kernel_run(const dynsel_launch *launch)
{
    (void)launch;
    dynsel_simulated_spend(run_ns);
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {.name = "kernel", .function = kernel_run};

static dynsel_status update(dynsel_handler *handler, void *args)
{
    dynsel_accessor accessor;
    (void)args;
    dynsel_get_access(handler, buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &accessor);
    dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static void update_on(unsigned device)
{
    use(device);
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&chosen.policy, update, NULL, NULL));
    wait_for_all();
    leave();
}

static void open_buffer(void)
{
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, data, sizeof data[0], //
                                                DYNSEL_RANGE(ELEMENTS)));
}

static void close_buffer(void)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

/* 1 MiB: 60 us. The run comes after it. */
static void data_move_once(void **state)
{
    (void)state;
    open_buffer();
    update_on(GPU);
    assert_int_equal(devices[GPU].transfers, 1);
    assert_int_equal(devices[GPU].bytes, sizeof data);
    assert_int_equal(devices[GPU].transfers_ns, 60 * US);
    assert_int_equal(dynsel_now_ns(), 1 + (5 + 60 + 100 + 10) * US);
    update_on(GPU);
    assert_int_equal(devices[GPU].transfers, 1);
    assert_int_equal(dynsel_now_ns(), 1 + (175 + 115) * US);
    close_buffer();
    assert_int_equal(devices[GPU].transfers, 2);
    assert_int_equal(dynsel_now_ns(), 1 + (290 + 60 + 10) * US);
}

static void data_go_from_device_to_device_by_host(void **state)
{
    (void)state;
    open_buffer();
    update_on(GPU);
    update_on(OTHER);
    assert_int_equal(devices[GPU].transfers, 2);
    assert_int_equal(devices[OTHER].transfers, 1);
    update_on(HOST);
    assert_int_equal(devices[OTHER].transfers, 2);
    assert_int_equal(devices[HOST].transfers, 0);
    close_buffer();
    assert_int_equal(devices[OTHER].transfers, 2);
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH && CONFIG_DYNSEL_ASPECT_GPU
/*
 * A policy: pieces of two kinds, of which each is faster on another device.
 */

static dynsel_earliest_finish_policy finisher;

static dynsel_status run_kind(const dynsel_resource *where, void *args, dynsel_event *done)
{
    static const uint64_t takes_ns[2][2] = {{20 * US, 200 * US}, {90 * US, 30 * US}};
    const unsigned device = where->handle == &devices[GPU] ? 0 : 1;
    (void)done;
    runs[device]++;
    dynsel_simulated_spend(takes_ns[*(const unsigned *)args][device]);
    return DYNSEL_OK;
}

/* Returns how long it takes. */
static uint64_t play(uint64_t seed, unsigned pieces)
{
    static unsigned kinds[2] = {0, 1};
    test_random random = {seed};
    dynsel_simulated_restart();
    describe();
    devices[GPU].aspects = DYNSEL_ASPECT_BIT(gpu);
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &options));
    for (unsigned i = 0; i < pieces; i++) {
        unsigned *kind = &kinds[test_random_below(&random, 2)];
        const dynsel_task piece = {.function = run_kind, .args = kind, .id = *kind + 1};
        assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &piece, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finisher.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    return dynsel_now_ns();
}

/* More often than there are events, if some were left over. */
static void restart_begins_anew(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (unsigned i = 0; i < 100; i++) {
        const uint64_t took_ns = play(seed + i, 100);
        assert_in_range(took_ns, 1300 * US, 11500 * US);
        assert_int_equal(runs[GPU] + runs[OTHER], 100);
    }
}

/* The GPU alone would need 55 us for a piece, the other device 115. */
static void policy_uses_both_devices(void **state)
{
    (void)state;
    (void)play(1, 10000);
    assert_int_equal(runs[GPU] + runs[OTHER], 10000);
    assert_in_range(dynsel_now_ns() / 10000, 13 * US, 20 * US);
    assert_in_range(devices[GPU].busy_ns * 100 / dynsel_now_ns(), 60, 100);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(time_passes_when_it_is_spent),
        TEST_SET_UP(work_takes_submit_run_and_latency),
        TEST_SET_UP(caller_is_blocked),
        TEST_SET_UP(device_works_in_order_and_beside_others),
        TEST_SET_UP(devices_share_processors),
        TEST_SET_UP(devices_elsewhere_share_no_processors),
        TEST_SET_UP(program_shares_processors),
        TEST_SET_UP(lost_device_shares_no_processors),
        TEST_SET_UP(polling_is_waiting),
        TEST_SET_UP(polling_goes_on_to_next_end),
        TEST_SET_UP(first_run_compiles),
        TEST_SET_UP(failing_function_takes_no_time_on_device),
        TEST_SET_UP(lost_device_fails_and_refuses),
#if CONFIG_DYNSEL_COMMAND_GROUPS
        TEST_SET_UP(data_move_once),
        TEST_SET_UP(data_go_from_device_to_device_by_host),
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH && CONFIG_DYNSEL_ASPECT_GPU
        TEST_SET_UP(restart_begins_anew),
        TEST_SET_UP(policy_uses_both_devices),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
