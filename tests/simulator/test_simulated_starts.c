/* SPDX-License-Identifier: Apache-2.0 */
/* What starts of work take of the program's time: who is told, and what earliest_finish makes of
 * it. */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <stdio.h>
#include <string.h>

#include "test.h"

enum {
    THREAD,
    PROCESSORS,
    CALLER,
    DEVICES,
    IN_FLIGHT = 8,
    KINDS = 4,
    PIECES = 16000,
    LEARNED = 4000,
    START_NS = 7000
};

static dynsel_simulated_device devices[DEVICES];
static dynsel_resource resources[DEVICES];

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
        .aspects = DYNSEL_ASPECT_BIT(cpu), .submit_ns = START_NS, .latency_ns = 1000};
    devices[CALLER] =
        (dynsel_simulated_device){.kind = DYNSEL_SIMULATED_CALLER, .submit_ns = START_NS};
    for (unsigned i = 0; i < DEVICES; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    return 0;
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES

/* A policy that chooses a given resource, and notes what it is told. */
static struct {
    dynsel_policy policy;
    uint32_t index;
    uint8_t wants;
    struct {
        dynsel_execution_info info;
        uint64_t value;
    } told[8];
    uint32_t count;
} listener;

static dynsel_status choose_given(dynsel_policy *policy, const dynsel_task *task,
                                  dynsel_selection *selection)
{
    if (!dynsel_policy_may_use(policy, listener.index, task)) {
        return DYNSEL_E_OUT_OF_SERVICE;
    }
    selection->index = listener.index;
    selection->wants = listener.wants;
    return DYNSEL_OK;
}

static void note(dynsel_policy *policy, const dynsel_selection *selection,
                 dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    assert_true(listener.count < 8);
    listener.told[listener.count].info = info;
    listener.told[listener.count].value = value;
    listener.count++;
}

static void listen_to(uint32_t index, unsigned wants)
{
    static const dynsel_policy_ops ops = {.name = "listener",
                                          .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION |
                                                   DYNSEL_TASK_TIME,
                                          .try_select = choose_given,
                                          .report = note};
    (void)memset(&listener, 0, sizeof listener);
    listener.index = index;
    listener.wants = (uint8_t)wants;
    const dynsel_options options = {.resources = resources, .count = DEVICES};
    assert_status(DYNSEL_OK, dynsel_policy_init(&listener.policy, &ops, &options));
}

static void leave(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listener.policy));
}

static void assert_told(uint32_t place, dynsel_execution_info info, uint64_t value)
{
    assert_true(place < listener.count);
    assert_int_equal(info, listener.told[place].info);
    assert_int_equal(value, listener.told[place].value);
}

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    dynsel_simulated_spend(50000);
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = work};

static void start_time_is_told_between_submission_and_end(void **state)
{
    (void)state;
    listen_to(PROCESSORS, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_START_TIME | DYNSEL_TASK_TIME |
                              DYNSEL_TASK_COMPLETION);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&listener.policy, &task));
    assert_int_equal(4, listener.count);
    assert_told(0, DYNSEL_TASK_SUBMISSION, 0);
    assert_told(1, DYNSEL_TASK_START_TIME, START_NS);
    assert_int_equal(DYNSEL_TASK_TIME, listener.told[2].info);
    assert_told(3, DYNSEL_TASK_COMPLETION, 0);
    leave();
}

static void start_time_is_told_only_to_who_requests_it(void **state)
{
    (void)state;
    listen_to(PROCESSORS, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&listener.policy, &task));
    assert_int_equal(2, listener.count);
    leave();
    listen_to(PROCESSORS, DYNSEL_TASK_START_TIME);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&listener.policy, &task));
    assert_int_equal(1, listener.count);
    assert_told(0, DYNSEL_TASK_START_TIME, START_NS);
    leave();
}

static void work_that_runs_in_its_caller_has_no_start_time(void **state)
{
    (void)state;
    listen_to(CALLER, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_START_TIME | DYNSEL_TASK_COMPLETION);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&listener.policy, &task));
    assert_int_equal(2, listener.count);
    assert_told(0, DYNSEL_TASK_SUBMISSION, 0);
    assert_told(1, DYNSEL_TASK_COMPLETION, 0);
    leave();
}

static void refused_start_has_no_time(void **state)
{
    (void)state;
    listen_to(PROCESSORS, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_START_TIME | DYNSEL_TASK_COMPLETION);
    devices[PROCESSORS].lost_ns = 1;
    assert_int_not_equal(DYNSEL_OK, dynsel_submit_and_wait(&listener.policy, &task));
    for (uint32_t i = 0; i < listener.count; i++) {
        assert_int_not_equal(DYNSEL_TASK_START_TIME, listener.told[i].info);
    }
    leave();
}

static dynsel_status run_group(const dynsel_launch *launch)
{
    (void)launch;
    dynsel_simulated_spend(50000);
    return DYNSEL_OK;
}

static dynsel_status record(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "kernel", .id = 1, .function = run_group};
    (void)args;
    return dynsel_single_task(handler, &kernel);
}

static void start_time_of_command_group_is_told(void **state)
{
    (void)state;
    listen_to(PROCESSORS, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_START_TIME | DYNSEL_TASK_COMPLETION);
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&listener.policy, record, NULL));
    assert_int_equal(3, listener.count);
    assert_told(0, DYNSEL_TASK_SUBMISSION, 0);
    assert_told(1, DYNSEL_TASK_START_TIME, START_NS);
    assert_told(2, DYNSEL_TASK_COMPLETION, 0);
    leave();
}

/* A program that runs its work itself may say it, too. */
static void program_reports_start_time_itself(void **state)
{
    (void)state;
    dynsel_selection selection;
    listen_to(PROCESSORS, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_START_TIME | DYNSEL_TASK_COMPLETION);
    assert_status(DYNSEL_OK, dynsel_select(&listener.policy, &task, &selection));
    assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_START_TIME));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&selection, DYNSEL_TASK_START_TIME, 5));
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    assert_status(DYNSEL_E_INVALID, dynsel_report(&selection, DYNSEL_TASK_START_TIME));
    assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_START_TIME, 5));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&selection, DYNSEL_TASK_START_TIME, 5));
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&selection, DYNSEL_TASK_START_TIME, 5));
    assert_int_equal(3, listener.count);
    assert_told(1, DYNSEL_TASK_START_TIME, 5);
    leave();
}

#endif

/* The stream: a thread does a piece in 5 us. The processors do it in 3 us, but four of five starts
 * there take as long as 20 pieces: the system gives the processor of the program to the run. */

static dynsel_status run_piece(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    dynsel_simulated_spend(where->handle == &devices[THREAD] ? 5000 : 3000);
    return DYNSEL_OK;
}

static uint64_t stream(dynsel_policy *policy)
{
    dynsel_submission submissions[IN_FLIGHT] = {{0}};
    uint64_t begin_ns = 0;
    for (uint32_t i = 0; i < PIECES; i++) {
        dynsel_submission *const it = &submissions[i % IN_FLIGHT];
        const dynsel_task piece = {.function = run_piece, .id = 1 + i % KINDS};
        begin_ns = i == LEARNED ? dynsel_now_ns() : begin_ns;
        devices[PROCESSORS].submit_ns = i % 5 == 0 ? 3000 : 100000;
        if (i >= IN_FLIGHT) {
            assert_status(DYNSEL_OK, dynsel_wait(it));
        }
        assert_status(DYNSEL_OK, dynsel_submit(policy, &piece, it));
    }
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    const uint64_t took_ns = dynsel_now_ns() - begin_ns;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    return took_ns;
}

static void short_pieces_do_not_go_where_starts_take_longer_than_they(void **state)
{
    static dynsel_fixed_resource_policy fixed;
    static dynsel_earliest_finish_policy finisher;
    const dynsel_options one = {.resources = &resources[THREAD], .count = 1};
    const dynsel_options both = {.resources = resources, .count = 2};
    (void)memset(&fixed, 0, sizeof fixed);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &one, 0));
    const uint64_t alone_ns = stream(&fixed.policy);
    (void)set_up(state);
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &both));
    const double share = (double)alone_ns / (double)stream(&finisher.policy);
    printf("starts: %.2f of the thread alone; on the processors %llu of %d pieces\n", share,
           (unsigned long long)devices[PROCESSORS].pieces, PIECES);
    assert_true(share >= 0.95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if CONFIG_DYNSEL_CUSTOM_POLICIES
        TEST_SET_UP(start_time_is_told_between_submission_and_end),
        TEST_SET_UP(start_time_is_told_only_to_who_requests_it),
        TEST_SET_UP(work_that_runs_in_its_caller_has_no_start_time),
        TEST_SET_UP(refused_start_has_no_time),
        TEST_SET_UP(start_time_of_command_group_is_told),
        TEST_SET_UP(program_reports_start_time_itself),
#endif
        TEST_SET_UP(short_pieces_do_not_go_where_starts_take_longer_than_they),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
