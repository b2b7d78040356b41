/* SPDX-License-Identifier: Apache-2.0 */
/* Costs that no prediction knows: earliest_finish measures the program's speed, and gives all work
 * to one resource, or none to a device on all processors, where that is faster. */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#if CONFIG_DYNSEL_LEARNED_TABLES
#include "policies/learned_memory.h"
#endif
#include "test.h"

enum {
    THREAD,
    PROCESSORS,
    OTHER, /* in some tests: as PROCESSORS, or a thread */
    DEVICES,
    PIECES = 64, /* in a pass */
    KINDS = 2,
    US = 1000,
    THREAD_US = 20,
    PROCESSORS_US = 14,
    HIDDEN_US = 60,
    WITHOUT_PROCESSORS = CONFIG_DYNSEL_MAX_RESOURCES + 1 /* a way to share work */
};

static dynsel_simulated_device devices[DEVICES];
static dynsel_resource resources[DEVICES];
static dynsel_earliest_finish_policy finisher;
static uint64_t takes_us[DEVICES];  /* for an amount of 1 */
static uint64_t suited_us[DEVICES]; /* one piece in 32, if not 0 */
static uint64_t hidden_us[DEVICES]; /* what a piece takes of the program in addition */
static uint64_t disturbs_us; /* how long after a run of the processors those of threads take twice
                                as long */
static uint64_t disturbed_until_ns;
static uint64_t amount;
static uint64_t pause_us; /* what the program does between passes */

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done;
    unsigned device = 0;
    while (where->handle != resources[device].handle) {
        device++;
    }
    const uint64_t takes_ns =
        (args == suited_us ? suited_us[device] : takes_us[device] * *(const uint64_t *)args) * US;
    const uint64_t now_ns = dynsel_now_ns();
    const bool is_thread = devices[device].kind == DYNSEL_SIMULATED_THREAD;
    if (!is_thread) {
        disturbed_until_ns = now_ns + takes_ns + disturbs_us * US;
    }
    const bool is_disturbed = is_thread && disturbs_us != 0 && now_ns < disturbed_until_ns;
    dynsel_simulated_spend(is_disturbed ? 2 * takes_ns : takes_ns);
    return DYNSEL_OK;
}

static void begin(size_t count)
{
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    dynsel_options all = {.resources = resources, .count = count};
#if CONFIG_DYNSEL_RESOURCE_SETS
    all.may_change = true;
#endif
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
}

static int set_up(void **state)
{
    (void)state;
    dynsel_simulated_restart();
    (void)memset(devices, 0, sizeof devices);
    devices[THREAD] = (dynsel_simulated_device){.kind = DYNSEL_SIMULATED_THREAD,
                                                .aspects = DYNSEL_ASPECT_BIT(host),
                                                .submit_ns = 300,
                                                .latency_ns = 1000};
    devices[PROCESSORS] = (dynsel_simulated_device){
        .aspects = DYNSEL_ASPECT_BIT(cpu), .submit_ns = 1000, .latency_ns = 1000};
    devices[OTHER] = devices[PROCESSORS];
    for (unsigned i = 0; i < DEVICES; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    takes_us[THREAD] = THREAD_US;
    takes_us[PROCESSORS] = takes_us[OTHER] = PROCESSORS_US;
    hidden_us[THREAD] = 0;
    hidden_us[PROCESSORS] = hidden_us[OTHER] = HIDDEN_US;
    (void)memset(suited_us, 0, sizeof suited_us);
    disturbs_us = 0;
    disturbed_until_ns = 0;
    amount = 1;
    pause_us = 50;
    begin(OTHER);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    return 0;
}

static void wait_for_all(void)
{
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finisher.policy)));
}

/* A pass of a program that submits all pieces, waits for them, and does something else then. The
 * hidden cost comes with three pieces of four, so that the shortest submits do not show it. Returns
 * how long the work took. */
static uint64_t pass(unsigned kinds)
{
    const uint64_t began_ns = dynsel_now_ns();
    for (unsigned i = 0; i < PIECES; i++) {
        uint64_t before[DEVICES];
        for (unsigned k = 0; k < DEVICES; k++) {
            before[k] = devices[k].pieces;
        }
        const bool is_suited = suited_us[0] != 0 && i % 32 == 5;
        const dynsel_task task = {.function = run,
                                  .args = is_suited ? suited_us : &amount,
                                  .id = is_suited ? 99 : 1 + i % kinds,
                                  .amount = amount};
        assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
        for (unsigned k = 0; k < DEVICES && i % 4 != 0; k++) {
            dynsel_simulated_spend(devices[k].pieces != before[k] ? hidden_us[k] * US : 0);
        }
    }
    wait_for_all();
    const uint64_t took_ns = dynsel_now_ns() - began_ns;
    dynsel_simulated_spend(pause_us * US);
    return took_ns;
}

/* How many pieces of some passes a device gets. */
static uint64_t pieces_of(unsigned device, unsigned passes, unsigned kinds)
{
    const uint64_t before = devices[device].pieces;
    for (unsigned i = 0; i < passes; i++) {
        (void)pass(kinds);
    }
    return devices[device].pieces - before;
}

static dynsel_reason next_reason(void)
{
    dynsel_selection selection = {0};
    assert_status(
        DYNSEL_OK,
        dynsel_select(&finisher.policy,
                      &(dynsel_task){.function = run, .args = &amount, .id = 1, .amount = 1},
                      &selection));
    return (dynsel_reason)selection.reason;
}

static void hidden_costs_show_in_speed(void **state)
{
    (void)state;
    (void)pieces_of(THREAD, 12, KINDS);
    /* all resources together are tried meanwhile, and given up again */
    const uint64_t on_thread = pieces_of(THREAD, 100, KINDS);
    const uint64_t took_ns = pass(KINDS);
    print_message("%u of %u pieces on the thread, a pass takes %u us\n", (unsigned)on_thread,
                  100 * PIECES, (unsigned)(took_ns / US));
    assert_in_range(on_thread, 95 * PIECES, 100 * PIECES - 1);
    /* the same with one resource alone, and the time until its end is seen */
    const uint64_t alone_ns = (uint64_t)PIECES * THREAD_US * US;
    assert_true(took_ns < alone_ns + alone_ns / 10);
    assert_int_equal(0, finisher.ways[WITHOUT_PROCESSORS].rate.value); /* the thread alone */
}

static void reason_says_that_one_is_faster_alone(void **state)
{
    (void)state;
    assert_int_not_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    (void)pieces_of(THREAD, 12, KINDS);
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    assert_true(!CONFIG_DYNSEL_STATUS_NAMES ||
                strstr(dynsel_reason_text(DYNSEL_REASON_FASTEST_ALONE), "together") != NULL);
}

/* All resources together are tried again. */
static void work_is_shared_again_when_that_pays(void **state)
{
    (void)state;
    (void)pieces_of(THREAD, 12, KINDS);
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    hidden_us[PROCESSORS] = 0;
    (void)pieces_of(THREAD, 200, KINDS);
    assert_int_not_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    const uint64_t took_ns = pass(KINDS);
    print_message("shared again, a pass takes %u us\n", (unsigned)(took_ns / US));
    assert_true(took_ns * 3 / 2 < (uint64_t)PIECES * THREAD_US * US);
}

/* What it would take alone is more than what all take together: nothing is tried. */
static void sharing_that_pays_is_never_given_up(void **state)
{
    (void)state;
    hidden_us[PROCESSORS] = 0;
    takes_us[PROCESSORS] = THREAD_US;
    (void)pieces_of(THREAD, 10, KINDS); /* learns */
    for (unsigned i = 0; i < 200; i++) {
        const uint64_t on_thread = pieces_of(THREAD, 1, KINDS);
        assert_in_range(on_thread, PIECES / 4, PIECES * 3 / 4);
    }
}

/* A start there takes longer than a piece elsewhere. */
static void resource_with_slow_starts_is_not_tried(void **state)
{
    (void)state;
    devices[PROCESSORS].submit_ns = (uint64_t)3 * THREAD_US * US;
    takes_us[PROCESSORS] = 2;
    hidden_us[PROCESSORS] = 0;
    (void)pieces_of(THREAD, 120, KINDS);
    assert_int_equal(0, finisher.ways[PROCESSORS + 1].rate.value);
}

/* The choice gives it nearly all work anyway, so it is the first that gets all. The thread is
 * faster by less than would be asked of it beside a resource that has won all work. */
static void resource_that_has_most_anyway_hides_no_other(void **state)
{
    (void)state;
    takes_us[PROCESSORS] = 2;
    hidden_us[PROCESSORS] = 20;
    takes_us[THREAD] = 12;
    unsigned passes = 0;
    unsigned alone = 0;
    while (passes < 50 && (finisher.way.value != THREAD + 1 || finisher.tries_from.value != 0)) {
        (void)pass(1);
        alone += finisher.way.value == PROCESSORS + 1 ? 1u : 0u;
        passes++;
    }
    print_message("the thread has all work after %u passes, in %u the processors had it\n", passes,
                  alone);
    assert_true(alone != 0);
    assert_in_range(passes, 1, alone + 8);
}

/* However long the program looks at results. */
static void time_between_passes_does_not_count(void **state)
{
    (void)state;
    pause_us = 200000;
    (void)pieces_of(THREAD, 12, KINDS);
    assert_int_equal(THREAD + 1, finisher.way.value);
}

/* Work that takes 16 times as long is 16 times as much. */
static void speed_does_not_depend_on_amounts(void **state)
{
    (void)state;
    hidden_us[PROCESSORS] = (uint64_t)16 * HIDDEN_US;
    (void)pieces_of(THREAD, 20, KINDS);
    assert_int_equal(THREAD + 1, finisher.way.value);
    const uint32_t rate = finisher.ways[THREAD + 1].rate.value;
    amount = 16;
    (void)pieces_of(THREAD, 2, KINDS); /* the amount is new */
    const uint64_t on_thread = pieces_of(THREAD, 40, KINDS);
    print_message("%u of %u pieces on the thread\n", (unsigned)on_thread, 40 * PIECES);
    assert_true(on_thread >= (uint64_t)36 * PIECES);
    assert_in_range(finisher.ways[THREAD + 1].rate.value, rate - rate / 10, rate + rate / 10);
}

/* A resource that gets slow gives the work back. */
static void slow_resource_loses_all_work(void **state)
{
    (void)state;
    (void)pieces_of(THREAD, 12, KINDS);
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    takes_us[THREAD] = (uint64_t)20 * THREAD_US;
    (void)pieces_of(THREAD, 100, KINDS);
    const uint64_t on_thread = pieces_of(THREAD, 10, KINDS);
    print_message("%u of %u pieces on the slow thread\n", (unsigned)on_thread, 10 * PIECES);
    assert_true(on_thread < 10 * PIECES / 4);
}

/* Runs of seconds are longer than what a window can measure. */
static void long_runs_are_shared(void **state)
{
    (void)state;
    enum { FEW = 8, LEARNED = 50, PASSES = 100 };
    takes_us[THREAD] = 4000000;
    takes_us[PROCESSORS] = 6000000;
    hidden_us[PROCESSORS] = 0;
    for (unsigned p = 0; p < PASSES; p++) {
        const uint64_t before = devices[PROCESSORS].pieces;
        for (unsigned i = 0; i < FEW; i++) {
            const dynsel_task task = {.function = run, .args = &amount, .id = 1, .amount = amount};
            assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
        }
        wait_for_all();
        dynsel_simulated_spend(pause_us * US);
        assert_true(p < LEARNED || devices[PROCESSORS].pieces - before == 3);
    }
}

/* Whether the policy looks at one resource only for each of the next choices. */
static bool is_settled(void)
{
    bool settled = true;
    for (unsigned i = 0; i < 64; i++) {
        settled = settled && finisher.policy.ops->is_settled(&finisher.policy);
        (void)next_reason();
    }
    return settled;
}

static unsigned passes_until_thread_has_all(void)
{
    unsigned passes = 0;
    while (passes < 50 && (finisher.way.value != THREAD + 1 || finisher.tries_from.value != 0)) {
        (void)pass(1);
        passes++;
    }
    return passes;
}

/* A thread that needs seconds gets no more work. Its runs are known all the same. */
static void resource_with_long_runs_is_known(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    devices[OTHER] = devices[THREAD];
    resources[OTHER] = dynsel_simulated_resource(&devices[OTHER]);
    takes_us[OTHER] = 2000000;
    hidden_us[OTHER] = 0;
    begin(DEVICES);
    const unsigned passes = passes_until_thread_has_all();
    print_message("one has all work after %u passes, %u pieces were long\n", passes,
                  (unsigned)devices[OTHER].pieces);
    assert_int_not_equal(0, devices[OTHER].pieces);
    assert_in_range(passes, 1, 10);
    assert_true(is_settled());
    assert_int_equal(0, finisher.ways[OTHER + 1].rate.value); /* it was not tried with all work */
}

/* A kernel may have been compiled in it. */
static void one_slow_pass_says_nothing(void **state)
{
    (void)state;
    hidden_us[PROCESSORS] = 0;
    (void)pieces_of(THREAD, 20, KINDS);
    assert_int_equal(0, finisher.ways[PROCESSORS + 1].rate.value);
    const uint32_t rate = finisher.ways[0].rate.value;
    hidden_us[THREAD] = hidden_us[PROCESSORS] = HIDDEN_US;
    (void)pass(KINDS);
    hidden_us[THREAD] = hidden_us[PROCESSORS] = 0;
    (void)pieces_of(THREAD, 4, KINDS);
    assert_int_equal(0, finisher.ways[PROCESSORS + 1].rate.value); /* not tried */
    assert_in_range(finisher.ways[0].rate.value, rate - rate / 10, rate + rate / 10);
}

/* In the window in which it was tried it was faster than it is. */
static void overrated_resource_gives_work_back_at_once(void **state)
{
    (void)state;
    enum { WINDOWS = 8 }; /* until all resources are tried again otherwise */
    unsigned passes = 0;
    hidden_us[PROCESSORS] = HIDDEN_US / 2;
    while (passes < 20 && (finisher.way.value != THREAD + 1 || finisher.tries_from.value != 0)) {
        (void)pass(KINDS);
        passes++;
    }
    assert_int_equal(THREAD + 1, finisher.way.value);
    takes_us[THREAD] = (uint64_t)2 * THREAD_US - 1;
    passes = 0;
    while (passes < 20 && finisher.way.value != 0) {
        (void)pass(KINDS);
        passes++;
    }
    print_message("given back after %u passes\n", passes);
    assert_in_range(passes, 1, WINDOWS - 2);
}

/* Their runs elsewhere are not known: they are learned first, with all resources. */
static void new_kinds_are_learned_on_all_resources(void **state)
{
    (void)state;
    (void)pieces_of(THREAD, 12, 1);
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    const uint64_t before = devices[PROCESSORS].pieces;
    (void)pass(8 * KINDS);
    (void)pass(8 * KINDS);
    assert_true(devices[PROCESSORS].pieces > before);
    (void)pieces_of(THREAD, 60, 8 * KINDS);
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
}

/* A thread is assumed to be so slow that what the kind earns pays for a trial run late: until then
 * the GPU gets all work. */
static void resources_are_tried_while_one_gets_all_work(void **state)
{
    (void)state;
    enum { MOST_PASSES = 400 };
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    devices[PROCESSORS].aspects = DYNSEL_ASPECT_BIT(gpu);
    devices[PROCESSORS].latency_ns = (uint64_t)100 * US;
    hidden_us[PROCESSORS] = 0;
    begin(OTHER);
    unsigned passes = 0;
    unsigned alone = 0;
    while (passes < MOST_PASSES && pieces_of(THREAD, 1, 1) == 0) {
        alone += finisher.way.value == PROCESSORS + 1 ? 1u : 0u;
        passes++;
    }
    print_message("the GPU had all work in %u passes, then the thread got some, after %u\n", alone,
                  passes);
    assert_true(alone > passes / 2);
    assert_in_range(passes, 20, MOST_PASSES / 4);
    (void)pieces_of(THREAD, 20, 1);
    assert_in_range(pieces_of(THREAD, 10, 1), 2 * PIECES, 8 * PIECES); /* they share it */
}

/* False: the backends are the same, so that forms exclude none. */
static bool submit_for_processors_only(void)
{
    const dynsel_task_form forms[] = {{.backend = resources[PROCESSORS].backend, .function = run}};
    if (resources[PROCESSORS].backend == resources[THREAD].backend) {
        return false;
    }
    const dynsel_task task = {
        .args = &amount, .id = 77, .amount = 1, .forms = forms, .form_count = 1};
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
    return true;
}

/* What only one resource can run says nothing of how the rest is shared. */
static void work_for_one_resource_only_does_not_count(void **state)
{
    (void)state;
    bool is_excludable = true;
    for (unsigned i = 0; i < 12 && is_excludable; i++) {
        (void)pass(KINDS);
        is_excludable = submit_for_processors_only();
    }
    wait_for_all();
    (void)pieces_of(THREAD, 2, KINDS);
    assert_true(!is_excludable || finisher.way.value == THREAD + 1);
}

/* Two threads, and a device on all processors that suits a few pieces. After it has run, the
 * threads are slow for a while, as beside a driver whose threads wait actively. */
static void begin_with_two_threads(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    devices[OTHER] = devices[THREAD];
    resources[OTHER] = dynsel_simulated_resource(&devices[OTHER]);
    takes_us[OTHER] = THREAD_US;
    takes_us[PROCESSORS] = (uint64_t)10 * THREAD_US;
    hidden_us[PROCESSORS] = hidden_us[OTHER] = 0;
    suited_us[THREAD] = suited_us[OTHER] = (uint64_t)2 * THREAD_US;
    suited_us[PROCESSORS] = THREAD_US;
    disturbs_us = 2000;
    begin(DEVICES);
}

static void work_until_device_is_left_out(void)
{
    unsigned passes = 0;
    while (passes < 30 &&
           (finisher.way.value != WITHOUT_PROCESSORS || finisher.tries_from.value != 0)) {
        (void)pass(KINDS);
        passes++;
    }
    print_message("the device is left out after %u passes\n", passes);
    assert_int_equal(WITHOUT_PROCESSORS, finisher.way.value);
    assert_int_equal(0, finisher.tries_from.value);
    assert_in_range(passes, 1, 24);
}

static void device_that_slows_others_is_left_out(void **state)
{
    (void)state;
    begin_with_two_threads();
    work_until_device_is_left_out();
    /* all resources together are tried meanwhile, and given up again */
    const uint64_t on_device = pieces_of(PROCESSORS, 100, KINDS);
    uint64_t took_ns = UINT64_MAX;
    for (unsigned i = 0; i < 4; i++) { /* one of them may be such a try */
        const uint64_t its_ns = pass(KINDS);
        took_ns = its_ns < took_ns ? its_ns : took_ns;
    }
    print_message("%u of %u pieces on the device, a pass takes %u us\n", (unsigned)on_device,
                  100 * PIECES, (unsigned)(took_ns / US));
    assert_in_range(on_device, 1, PIECES);
    assert_false(finisher.policy.ops->is_settled(&finisher.policy)); /* it looks at data */
    const uint64_t both_ns = (uint64_t)PIECES * THREAD_US * US / 2;
    assert_true(took_ns < both_ns + both_ns / 10);
}

static void left_out_device_gets_work_again(void **state)
{
    (void)state;
    begin_with_two_threads();
    work_until_device_is_left_out();
    disturbs_us = 0;
    (void)pieces_of(PROCESSORS, 200, KINDS);
    for (unsigned i = 0; i < 2 && finisher.tries_from.value != 0; i++) {
        (void)pass(KINDS); /* another way is just tried */
    }
    assert_int_equal(0, finisher.way.value);
    assert_int_equal(0, finisher.tries_from.value);
    const uint64_t on_device = pieces_of(PROCESSORS, 10, KINDS); /* those that suit it */
    print_message("%u pieces on the device\n", (unsigned)on_device);
    assert_true(on_device >= 19);
}

/* What the others would need for its work is known to be too much. */
static void needed_device_is_not_left_out(void **state)
{
    (void)state;
    begin_with_two_threads();
    takes_us[PROCESSORS] = THREAD_US / 2;
    disturbs_us = 0;
    (void)pieces_of(PROCESSORS, 100, KINDS);
    assert_int_equal(0, finisher.ways[WITHOUT_PROCESSORS].rate.value);
}

/* New kinds are learned with all resources, and what can run nowhere else runs there. */
static void left_out_device_is_still_used(void **state)
{
    (void)state;
    begin_with_two_threads();
    work_until_device_is_left_out();
    assert_true(pieces_of(PROCESSORS, 40, 4 * KINDS) > 0);
    unsigned passes = 0;
    while (passes < 400 && finisher.way.value != WITHOUT_PROCESSORS) {
        (void)pass(4 * KINDS);
        passes++;
    }
    print_message("left out again after %u passes\n", passes);
    assert_int_equal(WITHOUT_PROCESSORS, finisher.way.value);
    const uint64_t before = devices[PROCESSORS].pieces;
    const uint64_t expected = submit_for_processors_only() ? before + 1 : before;
    wait_for_all();
    assert_int_equal(expected, devices[PROCESSORS].pieces);
}

/* Threads get trial runs of it that are paid for, not all of it. */
static void kind_known_there_only_is_not_new(void **state)
{
    (void)state;
    begin_with_two_threads();
    work_until_device_is_left_out();
    bool is_excludable = true;
    for (unsigned i = 0; i < 8 && is_excludable; i++) {
        is_excludable = submit_for_processors_only();
        wait_for_all();
    }
    (void)pass(KINDS);
    const dynsel_task task = {.function = run, .args = &amount, .id = 77, .amount = amount};
    dynsel_selection selection = {0};
    assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, &task, &selection));
    assert_true(!is_excludable || selection.reason != DYNSEL_REASON_PROFILING);
}

/* A look at everything costs a part of a short piece. A device whose first run costs too much to be
 * tried is looked at again more and more rarely. */
static void stranger_is_looked_at_rarely(void **state)
{
    (void)tear_down(state);
    devices[PROCESSORS].aspects = DYNSEL_ASPECT_BIT(gpu); /* the first work goes there */
    resources[PROCESSORS] = dynsel_simulated_resource(&devices[PROCESSORS]);
    begin(DEVICES);
    finisher.first_starts[OTHER].value = 1000000000;
    assert_int_equal(0, pieces_of(OTHER, 200, KINDS));
    assert_int_equal(THREAD + 1, finisher.way.value);
    unsigned looks = 0;
    for (unsigned i = 0; i < 40 * PIECES; i++) {
        looks += finisher.policy.ops->is_settled(&finisher.policy) ? 0 : 1;
        const dynsel_task task = {.function = run, .args = &amount, .id = 1, .amount = amount};
        assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
        if (i % PIECES == 0) {
            wait_for_all();
        }
    }
    wait_for_all();
    print_message("%u looks in %u choices\n", looks, 40 * PIECES);
    assert_in_range(looks, 1, 40);
}

#if CONFIG_DYNSEL_RESOURCE_STATES
/* Work of a resource that is out of service is chosen for again, with a look at everything. */
static void resource_out_of_service_loses_all_work(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    begin(DEVICES);
    (void)pieces_of(THREAD, 30, KINDS);
    assert_int_equal(THREAD + 1, finisher.way.value);
    assert_status(DYNSEL_OK, dynsel_resource_drain(&finisher.policy, THREAD));
    assert_int_equal(0, pieces_of(THREAD, 3, KINDS));
    assert_false(finisher.policy.ops->is_settled(&finisher.policy));
}

/* The rest may need it then. */
static void left_out_device_replaces_a_thread(void **state)
{
    (void)state;
    begin_with_two_threads();
    work_until_device_is_left_out();
    assert_status(DYNSEL_OK, dynsel_resource_drain(&finisher.policy, THREAD));
    assert_true(pieces_of(PROCESSORS, 4, KINDS) > 0);
}

/* Of two threads one has left: the other alone is a way of its own. */
static void device_is_not_left_out_beside_one_thread(void **state)
{
    (void)state;
    begin_with_two_threads();
    assert_status(DYNSEL_OK, dynsel_resource_drain(&finisher.policy, OTHER));
    (void)pieces_of(PROCESSORS, 60, KINDS);
    assert_int_equal(0, finisher.ways[WITHOUT_PROCESSORS].rate.value);
}
#endif

#if CONFIG_DYNSEL_RESOURCE_SETS
/* It is no stranger to kinds that it never ran, and nothing is left out for it. */
static void removed_resource_does_not_count(void **state)
{
    (void)state;
    begin_with_two_threads();
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(&finisher.policy, OTHER, 0));
    const unsigned passes = passes_until_thread_has_all();
    print_message("the thread has all work after %u passes\n", passes);
    assert_in_range(passes, 1, 10);
    assert_int_equal(0, finisher.ways[WITHOUT_PROCESSORS].rate.value);
    assert_true(is_settled());
}
#endif

#if CONFIG_DYNSEL_LEARNED_TABLES

/* A slow device of which a table tells gets no work, because it would compile: the speed of the
 * others is measured without it. */
static void device_that_compiled_nothing_does_not_count(void **state)
{
    (void)state;
    (void)tear_down(state);
    takes_us[OTHER] = 100;
    begin(DEVICES);
    assert_true(pieces_of(OTHER, 100, KINDS) > 4);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, NULL));
    (void)tear_down(state);
    begin(DEVICES);
    finisher.first_starts[OTHER].value = 1000000000;
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, NULL));
    assert_int_equal(0, pieces_of(OTHER, 12, KINDS));
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
}

#endif

/* Nothing runs beside anything else: which resource is the best does not depend on how work is
 * shared. */
static void one_piece_at_a_time_is_chosen_for(void **state)
{
    (void)state;
    (void)pieces_of(THREAD, 12, KINDS);
    assert_int_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
    for (unsigned i = 0; i < 50; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(
                          &finisher.policy,
                          &(dynsel_task){.function = run, .args = &amount, .id = 1, .amount = 1}));
    }
    assert_int_not_equal(DYNSEL_REASON_FASTEST_ALONE, next_reason());
}

#define ALONE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE_TEST(hidden_costs_show_in_speed),
        ALONE_TEST(reason_says_that_one_is_faster_alone),
        ALONE_TEST(work_is_shared_again_when_that_pays),
        ALONE_TEST(sharing_that_pays_is_never_given_up),
        ALONE_TEST(resource_with_slow_starts_is_not_tried),
        ALONE_TEST(resource_that_has_most_anyway_hides_no_other),
        ALONE_TEST(time_between_passes_does_not_count),
        ALONE_TEST(speed_does_not_depend_on_amounts),
        ALONE_TEST(slow_resource_loses_all_work),
        ALONE_TEST(long_runs_are_shared),
        ALONE_TEST(resource_with_long_runs_is_known),
        ALONE_TEST(one_slow_pass_says_nothing),
        ALONE_TEST(overrated_resource_gives_work_back_at_once),
        ALONE_TEST(new_kinds_are_learned_on_all_resources),
        ALONE_TEST(resources_are_tried_while_one_gets_all_work),
        ALONE_TEST(work_for_one_resource_only_does_not_count),
        ALONE_TEST(stranger_is_looked_at_rarely),
        ALONE_TEST(device_that_slows_others_is_left_out),
        ALONE_TEST(left_out_device_gets_work_again),
        ALONE_TEST(needed_device_is_not_left_out),
        ALONE_TEST(left_out_device_is_still_used),
        ALONE_TEST(kind_known_there_only_is_not_new),
#if CONFIG_DYNSEL_RESOURCE_STATES
        ALONE_TEST(left_out_device_replaces_a_thread),
        ALONE_TEST(resource_out_of_service_loses_all_work),
        ALONE_TEST(device_is_not_left_out_beside_one_thread),
#endif
#if CONFIG_DYNSEL_LEARNED_TABLES
        ALONE_TEST(device_that_compiled_nothing_does_not_count),
#endif
        ALONE_TEST(one_piece_at_a_time_is_chosen_for),
#if CONFIG_DYNSEL_RESOURCE_SETS
        ALONE_TEST(removed_resource_does_not_count),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
