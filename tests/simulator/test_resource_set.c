/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that learn use a faster device that is added, do without one that is removed, and know a
 * device that comes back. In virtual time, so that each run has the same course. */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#include "policies/auto_tune_parts.h"
#include "policies/earliest_finish_parts.h"
#if CONFIG_DYNSEL_LEARNED_TABLES
#include "policies/learned_memory.h"
#endif
#include "test.h"

#define US UINT64_C(1000)

enum { SLOW, OTHER, FAST, DEVICES, KINDS = 4, PIECES = 4000 };

static dynsel_simulated_device devices[DEVICES];
static union {
    dynsel_policy policy;
    dynsel_auto_tune_policy auto_tune;
    dynsel_earliest_finish_policy earliest_finish;
} any;

static dynsel_policy *const policy = &any.policy;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    static const uint64_t times[DEVICES] = {200 * US, 220 * US, 20 * US};
    (void)args;
    (void)done;
    dynsel_simulated_spend(times[(dynsel_simulated_device *)where->handle - devices]);
    return DYNSEL_OK;
}

static dynsel_resource at(unsigned device)
{
    return dynsel_simulated_resource(&devices[device]);
}

static int set_up(void **state)
{
    (void)state;
    dynsel_simulated_restart();
    (void)memset(devices, 0, sizeof devices);
    (void)memset(&any, 0, sizeof any);
    for (unsigned i = 0; i < DEVICES; i++) {
        static const char *const names[DEVICES] = {"slow", "other", "fast"};
        devices[i] = (dynsel_simulated_device){
            .name = names[i], .submit_ns = 2 * US, .latency_ns = 5 * US, .compile_ns = 500 * US};
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    return 0;
}

static void wait_for_all(void)
{
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
}

/* What so many pieces of some kinds take, `together` in flight; how many the fast device gets. */
static uint64_t time_of(unsigned pieces, unsigned together, unsigned *fast)
{
    const uint64_t before_ns = dynsel_now_ns();
    const uint64_t fast_before = devices[FAST].pieces;
    for (unsigned i = 0; i < pieces; i++) {
        assert_status(
            DYNSEL_OK,
            dynsel_submit(policy, &(dynsel_task){.function = run, .id = 1 + i % KINDS}, NULL));
        if (i % together == together - 1) {
            wait_for_all();
        }
    }
    wait_for_all();
    *fast = (unsigned)(devices[FAST].pieces - fast_before);
    return dynsel_now_ns() - before_ns;
}

static void add(unsigned device)
{
    const dynsel_resource resource = at(device);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &resource, NULL));
}

static void fast_device_comes_goes_and_comes_back(unsigned together)
{
    unsigned fast = 0;
    const uint64_t without_ns = time_of(PIECES, together, &fast);
    assert_int_equal(0, fast);
    add(FAST);
    const uint64_t learning_ns = time_of(PIECES, together, &fast);
    assert_true(fast > PIECES * 8 / 10);
    const uint64_t with_ns = time_of(PIECES, together, &fast);
    assert_true(with_ns * 2 < without_ns);
    assert_true(learning_ns < with_ns + with_ns / 5);
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, FAST, 0));
    const uint64_t after_ns = time_of(PIECES, together, &fast);
    assert_int_equal(0, fast);
    assert_true(after_ns < without_ns + without_ns / 20);
    add(FAST);
    /* nothing has to be learned again */
    const uint64_t again_ns = time_of(PIECES, together, &fast);
    assert_true(again_ns <= with_ns + with_ns / 50);
    print_message("without it %u us, added %u, known %u, removed %u, back %u\n",
                  (unsigned)(without_ns / US), (unsigned)(learning_ns / US),
                  (unsigned)(with_ns / US), (unsigned)(after_ns / US), (unsigned)(again_ns / US));
}

static dynsel_options two_slow(dynsel_resource *resources)
{
    resources[0] = at(SLOW);
    resources[1] = at(OTHER);
    return (dynsel_options){.resources = resources, .count = 2, .may_change = true};
}

static void auto_tune_follows(void **state)
{
    (void)state;
    dynsel_resource resources[2];
    const dynsel_options options = two_slow(resources);
    assert_status(DYNSEL_OK,
                  dynsel_auto_tune_init(&any.auto_tune, &options, DYNSEL_NEVER_RESAMPLE));
    fast_device_comes_goes_and_comes_back(1);
}

/* Its times are not known, whenever a kind was met: a run that fails teaches none. */
static void auto_tune_knows_nothing_of_added_device(void **state)
{
    (void)state;
    dynsel_resource resources[2];
    const dynsel_options options = two_slow(resources);
    unsigned fast = 0;
    unsigned kinds = 0;
    assert_status(DYNSEL_OK,
                  dynsel_auto_tune_init(&any.auto_tune, &options, DYNSEL_NEVER_RESAMPLE));
    (void)time_of(PIECES, 1, &fast);
    add(FAST);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        const dynsel_tuned_task *const entry = &any.auto_tune.tasks[i];
        for (unsigned k = 0; k < DYNSEL_TUNED_WINDOW && entry->tag.value != 0; k++) {
            assert_true(!DYNSEL_TUNED_EXPLORES ||
                        entry->resources[FAST].times[k] == DYNSEL_TUNED_UNKNOWN);
            kinds += k == 0 ? 1 : 0;
        }
    }
    assert_int_equal(KINDS, kinds);
}

static void earliest_finish_follows(void **state)
{
    (void)state;
    dynsel_resource resources[2];
    const dynsel_options options = two_slow(resources);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&any.earliest_finish, &options));
    fast_device_comes_goes_and_comes_back(1);
}

static void earliest_finish_follows_with_many_in_flight(void **state)
{
    (void)state;
    dynsel_resource resources[2];
    const dynsel_options options = two_slow(resources);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&any.earliest_finish, &options));
    fast_device_comes_goes_and_comes_back(32);
}

/* What is assumed of a device does not depend on when it came. */
static void added_device_begins_as_the_first_ones(void **state)
{
    (void)state;
    static dynsel_earliest_finish_policy from_the_start;
    devices[FAST].kind = DYNSEL_SIMULATED_CALLER;
    dynsel_resource resources[DEVICES] = {at(SLOW), at(OTHER), at(FAST)};
    dynsel_options options = {.resources = resources, .count = DEVICES, .may_change = true};
    (void)memset(&from_the_start, 0, sizeof from_the_start);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&from_the_start, &options));
    options.count = DEVICES - 1;
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&any.earliest_finish, &options));
    add(FAST);
    const dynsel_earliest_finish_policy *const changed = &any.earliest_finish;
    assert_memory_equal(from_the_start.states, changed->states, sizeof changed->states);
    assert_memory_equal(from_the_start.speeds, changed->speeds, sizeof changed->speeds);
    assert_memory_equal(from_the_start.blocking, changed->blocking, sizeof changed->blocking);
    assert_int_not_equal(0, changed->blocking[0].value);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&from_the_start.policy));
}

/* A thread that was removed shares no data any more, and is not where they stay. */
static void removed_thread_shares_no_data(void **state)
{
    (void)state;
    dynsel_earliest_finish_policy *const finisher = &any.earliest_finish;
    for (unsigned i = 0; i < DEVICES; i++) {
        devices[i].kind = DYNSEL_SIMULATED_THREAD;
        devices[i].aspects = DYNSEL_ASPECT_BIT(host);
    }
    dynsel_resource resources[DEVICES] = {at(SLOW), at(OTHER), at(FAST)};
    const dynsel_options options = {.resources = resources, .count = DEVICES, .may_change = true};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(finisher, &options));
    assert_int_equal(7, (uint32_t)dynsel_finish_sharing(finisher));
    assert_int_equal(3, finisher->sharers.value);
    finisher->data_home.value = OTHER + 1;
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, SLOW, 0));
    assert_int_equal(6, (uint32_t)dynsel_finish_sharing(finisher));
    assert_int_equal(2, finisher->sharers.value);
    assert_int_equal(OTHER + 1, finisher->data_home.value);
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, OTHER, 0));
    assert_int_equal(0, (uint32_t)dynsel_finish_sharing(finisher));
    assert_int_equal(1, finisher->sharers.value);
    assert_int_equal(0, finisher->data_home.value);
}

/* What a policy knows of processors depends on the resources that it has, not on those it had. */
static void returning_resources_use_processors_as_before(void **state)
{
    (void)state;
    enum { GPU = SLOW, PROCESSORS = OTHER, THREAD = FAST };
    dynsel_earliest_finish_policy *const finisher = &any.earliest_finish;
    devices[GPU].aspects = DYNSEL_ASPECT_BIT(gpu);
    devices[PROCESSORS].aspects = DYNSEL_ASPECT_BIT(cpu);
    devices[PROCESSORS].threads = 8;
    devices[THREAD].kind = DYNSEL_SIMULATED_THREAD;
    devices[THREAD].aspects = DYNSEL_ASPECT_BIT(host);
    dynsel_resource resources[DEVICES] = {at(GPU), at(PROCESSORS), at(THREAD)};
    const dynsel_options options = {.resources = resources, .count = DEVICES, .may_change = true};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(finisher, &options));
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(8, finisher->processors.value);
        assert_int_equal(1 << PROCESSORS, finisher->on_all[0].value);
        assert_int_equal(1 << THREAD, finisher->workers[0].value);
        assert_int_equal(1, finisher->feeds_devices.value);
        for (unsigned i = 0; i < DEVICES - 1; i++) {
            assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, i, 0));
        }
        assert_int_equal(2, finisher->processors.value);
        assert_int_equal(0, finisher->on_all[0].value);
        assert_int_equal(0, finisher->feeds_devices.value);
        add(PROCESSORS);
        assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, THREAD, 0));
        assert_int_equal(0, finisher->workers[0].value);
        add(GPU);
        add(THREAD);
    }
}

#if CONFIG_DYNSEL_LEARNED_TABLES
/* A table has devices that were removed, and tells of one that is added later. */
static void learned_table_serves_devices_that_come_later(void **state)
{
    (void)state;
    dynsel_resource resources[2];
    const dynsel_options options = two_slow(resources);
    dynsel_learned_report report;
    unsigned fast = 0;
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&any.earliest_finish, &options));
    add(FAST);
    (void)time_of(PIECES, 1, &fast);
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, FAST, 0));
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&any.earliest_finish, &store, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    (void)memset(&any, 0, sizeof any);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&any.earliest_finish, &options));
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&any.earliest_finish, &store, &report));
    assert_int_equal(2, report.devices);
    (void)time_of(KINDS, 1, &fast);
    add(FAST);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&any.earliest_finish, &store, &report));
    assert_int_equal(3, report.devices);
    (void)time_of(100, 1, &fast);
    assert_int_equal(100, fast);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(auto_tune_follows),
        TEST(auto_tune_knows_nothing_of_added_device),
        TEST(earliest_finish_follows),
        TEST(earliest_finish_follows_with_many_in_flight),
        TEST(added_device_begins_as_the_first_ones),
        TEST(removed_thread_shares_no_data),
        TEST(returning_resources_use_processors_as_before),
#if CONFIG_DYNSEL_LEARNED_TABLES
        TEST(learned_table_serves_devices_that_come_later),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
