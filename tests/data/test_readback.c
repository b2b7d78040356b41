/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time to copy results back is part of their work's time: the reports to policies, and their
 * use in auto_tune. On a clock that only devices advance.
 */
#include <string.h>

#include "support/places.h"

enum { FAST_KERNEL, FAST_WAY_BACK, OTHER, THIRD, RUNS = 60, MOST_HEARD = 64 };

static const uint64_t US = 1000; /* ns */

static uint64_t now_ns = 1;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

/* What kernels and transfers back need, by device. */
static struct {
    uint64_t launch_ns;
    uint64_t fetch_ns;
} costs[SIMULATED_DEVICES];

static void pass_time(unsigned device, simulated_kind kind)
{
    now_ns += kind == SIMULATED_LAUNCH  ? costs[device].launch_ns
              : kind == SIMULATED_FETCH ? costs[device].fetch_ns
                                        : 0;
}

/* A policy that does as it is told, and notes what it hears. */

typedef struct heard_report {
    dynsel_execution_info info;
    uint64_t value;
    uint32_t index;
    uint32_t note;
} heard_report;

typedef struct ear {
    dynsel_policy policy;
    uint32_t next;  /* resource */
    uint32_t note;  /* of the next selection */
    uint8_t wants;  /* besides */
    uint8_t reason; /* of the next selection */
    heard_report heard[MOST_HEARD];
    uint32_t count;
} ear;

static ear ears[2];

static dynsel_status choose_as_told(dynsel_policy *policy, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    const ear *e = (const ear *)(const void *)policy;
    (void)task;
    selection->index = e->next;
    selection->notes[1] = e->note;
    selection->wants |= e->wants;
    selection->reason = e->reason;
    return DYNSEL_OK;
}

static void hear(dynsel_policy *policy, const dynsel_selection *selection,
                 dynsel_execution_info info, uint64_t value)
{
    ear *e = (ear *)(void *)policy;
    assert_true(e->count < MOST_HEARD);
    e->heard[e->count++] = (heard_report){info, value, selection->index, selection->notes[1]};
}

static const dynsel_policy_ops ear_ops = {.name = "ear",
                                          .needs = DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                          .try_select = choose_as_told,
                                          .report = hear};

static void open_ear(ear *e)
{
    dynsel_resource resources[OTHER];
    for (unsigned i = 0; i < OTHER; i++) {
        resources[i] = simulated_resource(&sim, i);
    }
    const dynsel_options options = {.resources = resources, .count = OTHER};
    *e = (ear){.wants = DYNSEL_TASK_READBACK_TIME};
    assert_status(DYNSEL_OK, dynsel_policy_init(&e->policy, &ear_ops, &options));
}

static uint32_t times_heard(const ear *e, dynsel_execution_info info)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        count += e->heard[i].info == info ? 1 : 0;
    }
    return count;
}

/* Exactly one way back was told, last of all. */
static void assert_told(const ear *e, uint64_t ns, uint32_t index, uint32_t note)
{
    assert_int_equal(1, times_heard(e, DYNSEL_TASK_READBACK_TIME));
    const heard_report *last = &e->heard[e->count - 1];
    assert_int_equal(DYNSEL_TASK_READBACK_TIME, last->info);
    assert_int_equal(ns, last->value);
    assert_int_equal(index, last->index);
    assert_int_equal(note, last->note);
}

static void assert_not_told(const ear *e)
{
    assert_int_equal(0, times_heard(e, DYNSEL_TASK_READBACK_TIME));
}

static int32_t numbers[2][ELEMENTS];
static dynsel_buffer a;
static dynsel_buffer b;

static int set_up_with(bool waits_deliver)
{
    places_begin(waits_deliver);
    sim.taking_place = pass_time;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        costs[i].launch_ns = 5 * US;
        costs[i].fetch_ns = 5 * US;
    }
    open_ear(&ears[0]);
    memset(numbers, 0, sizeof numbers);
    a = new_buffer(numbers[0]);
    b = new_buffer(numbers[1]);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    return set_up_with(false);
}

static int set_up_delivering(void **state)
{
    (void)state;
    return set_up_with(true);
}

static void end_if_there(dynsel_buffer *buffer)
{
    if (buffer->token != 0) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(buffer));
    }
}

static int tear_down(void **state)
{
    (void)state;
    places_hurry();
    end_if_there(&a);
    end_if_there(&b);
    for (unsigned i = 0; i < 2; i++) {
        if (ears[i].policy.ops != NULL) {
            assert_status(DYNSEL_OK, dynsel_policy_deinit(&ears[i].policy));
        }
    }
    places_end();
    return 0;
}

static void run_with(ear *e, job what)
{
    assert_status(DYNSEL_OK, run_job_with(&e->policy, &what));
}

static void run_on(unsigned place, job what)
{
    assert_status(DYNSEL_OK, run_job(place, &what));
}

/* What a policy hears */

static void host_access_reports_copy_back_time(void **state)
{
    (void)state;
    ears[0].next = 1;
    ears[0].note = 77;
    costs[1].fetch_ns = 100 * US;
    run_with(&ears[0], set_all(a, 1));
    assert_not_told(&ears[0]);
    see_buffer(a, 1, 1);
    assert_told(&ears[0], 100 * US, 1, 77);
    see_buffer(a, 1, 1); /* nothing is moved any more */
    assert_told(&ears[0], 100 * US, 1, 77);
}

/* Whatever number a program gives its kinds of work: looking at the data is none of them. */
static void host_access_reports_copy_back_for_any_task_id(void **state)
{
    (void)state;
    const uint32_t ids[] = {1, 2, UINT32_MAX};
    for (unsigned i = 0; i < 3; i++) {
        job what = set_all(a, 1);
        what.id = ids[i];
        ears[0].count = 0;
        run_with(&ears[0], what);
        see_buffer(a, 1, 1);
        assert_told(&ears[0], 5 * US, 0, 0);
    }
}

/* Another device is lent the host's memory, and gives the same data back. */
static void copy_back_time_is_reported_once(void **state)
{
    (void)state;
    sim.devices[1].shares = true;
    run_with(&ears[0], set_all(a, 1));
    see_buffer(a, 1, 1);
    run_on(1, copy_to(b, a));
    see_buffer(a, 1, 1);
    assert_told(&ears[0], 5 * US, 0, 0);
}

static void buffer_deinit_reports_copy_back_time(void **state)
{
    (void)state;
    ears[0].note = 5;
    run_with(&ears[0], set_all(a, 1));
    end_buffer(&a, numbers[0], 1, 1);
    assert_told(&ears[0], 5 * US, 0, 5);
}

static void work_in_other_domain_reports_copy_back_time(void **state)
{
    (void)state;
    const unsigned places_to_read[] = {OTHER, HOST};
    for (unsigned i = 0; i < 2; i++) {
        ears[0].count = 0;
        run_with(&ears[0], set_all(a, 1));
        run_on(places_to_read[i], copy_to(b, a));
        see_buffer(b, 1, 1);
        assert_told(&ears[0], 5 * US, 0, 0);
    }
}

static void work_in_same_domain_reports_no_copy_back(void **state)
{
    (void)state;
    run_with(&ears[0], set_all(a, 1));
    run_on(0, copy_to(b, a));
    see_buffer(b, 1, 1);
    assert_not_told(&ears[0]);
}

/* One after the other, although both are begun before the first is waited for. */
static void copy_back_of_each_buffer_is_reported(void **state)
{
    (void)state;
    const job both = {.kind = ADD, .value = 3, .buffers = {a, b}};
    sim.devices[0].pace = SIMULATED_WHEN_POLLED;
    sim.devices[0].polls = 4;
    costs[0].fetch_ns = 40 * US;
    run_with(&ears[0], both);
    run_on(OTHER, (job){.kind = COPY, .buffers = {a, b}}); /* reads both */
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ears[0].count; i++) {
        const heard_report *report = &ears[0].heard[i];
        sum += report->info == DYNSEL_TASK_READBACK_TIME ? report->value : 0;
    }
    assert_int_equal(80 * US, sum);
    run_with(&ears[0], both);
    ears[0].count = 0;
    see_buffer(a, 3, 0);
    see_buffer(b, 0, 0);
    assert_int_equal(2, times_heard(&ears[0], DYNSEL_TASK_READBACK_TIME));
}

static void policy_without_request_gets_no_copy_back_report(void **state)
{
    (void)state;
    ears[0].wants = 0;
    run_with(&ears[0], set_all(a, 1));
    see_buffer(a, 1, 1);
    assert_not_told(&ears[0]);
    assert_int_equal(2, ears[0].count);
}

static void copy_back_is_reported_to_last_writer(void **state)
{
    (void)state;
    ears[0].note = 1;
    run_with(&ears[0], set_all(a, 1));
    ears[0].note = 2;
    ears[0].next = 1;
    run_with(&ears[0], set_all(a, 2));
    run_on(0, copy_to(b, a));
    assert_told(&ears[0], 5 * US, 1, 2);
    end_buffer(&b, numbers[1], 2, 1);
    assert_told(&ears[0], 5 * US, 1, 2);
}

static void overwritten_results_report_no_copy_back(void **state)
{
    (void)state;
    run_with(&ears[0], set_all(a, 1));
    run_on(1, set_all(a, 2));
    see_buffer(a, 2, 1);
    run_with(&ears[0], set_all(a, 1));
    write_buffer(a, 7, 1);
    run_on(1, add_to(a, 1));
    see_buffer(a, 8, 1);
    run_with(&ears[0], set_all(a, 1));
    run_on(HOST, set_all(a, 9));
    see_buffer(a, 9, 1);
    assert_not_told(&ears[0]);
}

/* Nor where a device is lent the host's memory, and gives it back. */
static void results_overwritten_by_host_report_no_copy_back(void **state)
{
    (void)state;
    sim.devices[1].shares = true;
    run_with(&ears[0], set_all(a, 1));
    write_buffer(a, 7, 1);
    run_on(1, copy_to(b, a));
    see_buffer(a, 7, 1);
    assert_not_told(&ears[0]);
}

static void failed_work_reports_no_copy_back(void **state)
{
    (void)state;
    const job fails = {.kind = FAIL, .value = DYNSEL_E_DEVICE, .buffers = {a}};
    assert_status(DYNSEL_E_DEVICE, run_job_with(&ears[0].policy, &fails));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
    assert_not_told(&ears[0]);

    run_with(&ears[0], set_all(b, 1));
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&b));
    assert_not_told(&ears[0]);
}

/* The work did not start there: what was there before stays. */
static void failed_start_reports_no_copy_back(void **state)
{
    (void)state;
    run_on(1, set_all(a, 1));
    simulated_fail(&sim, SIMULATED_ALLOCATE, 1, false, DYNSEL_E_FULL);
    const job what = set_all(a, 2);
    assert_status(DYNSEL_E_FULL, run_job_with(&ears[0].policy, &what));
    see_buffer(a, 1, 1);
    assert_not_told(&ears[0]);
}

/* It moved the data because it tried what else there is, or went back. */
static void copies_of_trial_runs_are_not_reported(void **state)
{
    (void)state;
    const uint8_t tries[] = {DYNSEL_REASON_PROFILING, DYNSEL_REASON_EXPLORING};
    open_ear(&ears[1]);
    for (unsigned i = 0; i < 2; i++) {
        run_with(&ears[0], set_all(a, 1));
        ears[1].next = 1;
        ears[1].reason = tries[i];
        run_with(&ears[1], copy_to(b, a));
    }
    for (uint32_t i = 0; i < 4; i++) { /* the same kind of work, to and fro */
        ears[0].next = i % 2;
        run_with(&ears[0], add_to(a, 1));
    }
    assert_not_told(&ears[0]);
    see_buffer(a, 5, 1);
    assert_int_equal(1, times_heard(&ears[0], DYNSEL_TASK_READBACK_TIME));
}

/* Its address may be another policy's by then. */
static void ended_policy_gets_no_copy_back_report(void **state)
{
    (void)state;
    run_with(&ears[0], set_all(a, 1));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&ears[0].policy));
    memset(&ears[0], 0, sizeof ears[0]);
    see_buffer(a, 1, 1);
    open_ear(&ears[0]);
    run_with(&ears[0], set_all(b, 1));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&ears[0].policy));
    open_ear(&ears[0]);
    see_buffer(b, 1, 1);
    assert_int_equal(0, ears[0].count);
}

/* What took place is seen by a submission, and to be told by the next call that looks. */
static void policy_may_deinit_before_copy_back_report(void **state)
{
    (void)state;
    dynsel_host_accessor seen = {0};
    sim.devices[0].pace = SIMULATED_BY_HAND;
    run_with(&ears[0], set_all(a, 1));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&seen, a, DYNSEL_ACCESS_READ, 0));
    simulated_finish(&sim);
    run_on(HOST, copy_to(b, a));
    assert_not_told(&ears[0]);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&ears[0].policy));
    memset(&ears[0], 0, sizeof ears[0]);
    see_buffer(b, 1, 1);
    end_buffer(&a, numbers[0], 1, 1);
}

static void policy_deinit_keeps_copy_back_reports_of_others(void **state)
{
    (void)state;
    dynsel_host_accessor seen = {0};
    open_ear(&ears[1]);
    ears[1].next = 1;
    run_with(&ears[0], set_all(a, 1));
    run_with(&ears[1], set_all(b, 1));
    for (unsigned i = 0; i < 2; i++) {
        sim.devices[i].pace = SIMULATED_BY_HAND;
        assert_status(DYNSEL_E_TIMEOUT,
                      dynsel_host_accessor_open_for(&seen, i == 0 ? a : b, DYNSEL_ACCESS_READ, 0));
    }
    simulated_finish(&sim);
    run_on(HOST, total_of(a, b));
    assert_not_told(&ears[0]);
    assert_not_told(&ears[1]);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&ears[0].policy));
    memset(&ears[0], 0, sizeof ears[0]);
    see_buffer(a, 1, 1);
    assert_int_equal(1, times_heard(&ears[1], DYNSEL_TASK_READBACK_TIME));
}

static void buffer_in_reused_slot_reports_only_its_own_copy_back(void **state)
{
    (void)state;
    run_with(&ears[0], set_all(a, 1));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_int_equal(1, times_heard(&ears[0], DYNSEL_TASK_READBACK_TIME));
    a = new_buffer(numbers[0]); /* in the same place */
    run_on(0, set_all(a, 3));
    see_buffer(a, 3, 1);
    assert_int_equal(1, times_heard(&ears[0], DYNSEL_TASK_READBACK_TIME));
}

/* Slots are used again and again before anybody fetches. */
static void copy_back_report_survives_slot_reuse(void **state)
{
    (void)state;
    ears[0].note = 42;
    run_with(&ears[0], set_all(a, 1));
    for (uint32_t i = 0; i < 3 * CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        run_on(i % 2, add_to(b, 1));
    }
    see_buffer(a, 1, 1);
    assert_told(&ears[0], 5 * US, 0, 42);
}

/* Nobody waits for the work itself: it is over when somebody wants its data. */
static void detached_work_reports_copy_back_time(void **state)
{
    (void)state;
    const job what = set_all(a, 1);
    sim.devices[0].pace = SIMULATED_WHEN_POLLED;
    sim.devices[0].polls = 4;
    assert_status(DYNSEL_OK, send_job_with(&ears[0].policy, &what, NULL));
    see_buffer(a, 1, 1);
    assert_told(&ears[0], 5 * US, 0, 0);
    assert_int_equal(1, times_heard(&ears[0], DYNSEL_TASK_TIME));
}

static void copy_back_behind_other_work(void)
{
    const job other = set_all(b, 1);
    sim.devices[0].pace = SIMULATED_BY_HAND;
    run_with(&ears[0], set_all(a, 1)); /* the wait hurries */
    assert_status(DYNSEL_OK, send_job(0, &other, NULL));
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&seen, a, DYNSEL_ACCESS_READ, 0));
    simulated_finish(&sim);
    see_buffer(a, 1, 1);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&places[0].policy)));
}

static void copy_back_behind_other_work_is_not_reported(void **state)
{
    (void)state;
    copy_back_behind_other_work();
    assert_not_told(&ears[0]);
}

static void copy_back_behind_other_work_is_0_where_data_are_weighed(void **state)
{
    (void)state;
    dynsel_policy_ops weighing = ear_ops;
    weighing.weighs_data = true;
    ears[0].policy.ops = &weighing;
    copy_back_behind_other_work();
    assert_told(&ears[0], 0, 0, 0);
    ears[0].policy.ops = &ear_ops;
}

/* Who comes to look after a long time does not know when it ended. */
static void copy_back_time_excludes_late_observation(void **state)
{
    (void)state;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    run_with(&ears[0], set_all(a, 1));
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&seen, a, DYNSEL_ACCESS_READ, 0));
    now_ns += 50 * US;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&seen, a, DYNSEL_ACCESS_READ, 0));
    now_ns += 100000 * US;
    simulated_finish(&sim);
    see_buffer(a, 1, 1);
    assert_told(&ears[0], 50 * US, 0, 0);
}

static dynsel_status never_called(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_UNSUPPORTED;
}

/* A program that runs its work itself says what it knows. */
static void program_reports_copy_back_time_itself(void **state)
{
    (void)state;
    const dynsel_task task = {.function = never_called};
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&ears[0].policy, &task, &selection));
    assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_READBACK_TIME));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&selection, DYNSEL_TASK_READBACK_TIME, 3));
    assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_TIME, 2));
    assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_READBACK_TIME, 3));
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
    assert_status(DYNSEL_E_INVALID, dynsel_report(&selection, DYNSEL_TASK_READBACK_TIME));
    assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_READBACK_TIME, 4));
    assert_int_equal(2, times_heard(&ears[0], DYNSEL_TASK_READBACK_TIME));
    assert_int_equal(4, ears[0].count);
}

/* What auto_tune makes of it */

static dynsel_auto_tune_policy tuner;

static void begin_tuning(void)
{
    dynsel_resource resources[OTHER];
    for (unsigned i = 0; i < OTHER; i++) {
        resources[i] = simulated_resource(&sim, i);
    }
    const dynsel_options options = {.resources = resources, .count = OTHER};
    memset(&tuner, 0, sizeof tuner);
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuner, &options, DYNSEL_NEVER_RESAMPLE));
    costs[FAST_KERNEL].launch_ns = 10 * US;
    costs[FAST_KERNEL].fetch_ns = 100 * US;
    costs[FAST_WAY_BACK].launch_ns = 60 * US;
    costs[FAST_WAY_BACK].fetch_ns = 10 * US;
}

/* Where the work went. */
static uint32_t tune_once(job what)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, send_job_with(&tuner.policy, &what, &submission));
    const uint32_t index = submission.index;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return index;
}

typedef void (*way_home)(void);

static void by_host_accessor(void)
{
    see_buffer(a, 1, 1);
}

static void by_end(void)
{
    end_buffer(&a, numbers[0], 1, 1);
    a = new_buffer(numbers[0]);
}

static void to_a_device(void)
{
    run_on(THIRD, copy_to(b, a));
}

static void to_the_host(void)
{
    run_on(HOST, copy_to(b, a));
}

static void stay(void)
{
}

/* How often of the last 20 runs that one was taken. */
static uint32_t tune(job what, way_home bring_home, uint32_t resource)
{
    uint32_t count = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        what.buffers[0] = a;
        const uint32_t index = tune_once(what);
        count += run >= RUNS - 20 && index == resource ? 1 : 0;
        bring_home();
    }
    return count;
}

static void auto_tune_includes_copy_back_time(void **state)
{
    (void)state;
    static const way_home ways[] = {by_host_accessor, by_end, to_a_device, to_the_host};
    static const simulated_pace paces[] = {SIMULATED_AT_ONCE, SIMULATED_WHEN_POLLED};
    for (unsigned k = 0; k < 8; k++) {
        begin_tuning();
        for (unsigned i = 0; i < OTHER; i++) {
            sim.devices[i].pace = paces[k / 4];
            sim.devices[i].polls = 3;
        }
        assert_true(tune(set_all(a, 1), ways[k % 4], FAST_WAY_BACK) >= 17);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
    }
}

static void auto_tune_includes_return_time_of_shared_memory(void **state)
{
    (void)state;
    begin_tuning();
    sim.devices[FAST_KERNEL].shares = true;
    assert_true(tune(set_all(a, 1), by_host_accessor, FAST_WAY_BACK) >= 17);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

/* Nobody fetches the results: the fastest kernel is the best, however far the way back. */
static void auto_tune_ignores_copy_back_when_results_stay(void **state)
{
    (void)state;
    begin_tuning();
    assert_true(tune(set_all(a, 1), stay, FAST_KERNEL) >= 17);
    assert_true(tune(add_to(a, 1), stay, FAST_KERNEL) >= 17); /* on the results of the last run */
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

/* A way back that becomes long or short when all is settled. */
static void auto_tune_adapts_to_changed_copy_back_time(void **state)
{
    (void)state;
    begin_tuning();
    costs[FAST_KERNEL].fetch_ns = 20 * US;
    assert_true(tune(set_all(a, 1), by_host_accessor, FAST_KERNEL) >= 17);
    costs[FAST_KERNEL].fetch_ns = 400 * US;
    (void)tune(set_all(a, 1), by_host_accessor, FAST_WAY_BACK);
    assert_true(tune(set_all(a, 1), by_host_accessor, FAST_WAY_BACK) >= 17);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

/* Several pieces are under way before the first comes home. */
static void auto_tune_includes_copy_back_time_of_bursts(void **state)
{
    (void)state;
    begin_tuning();
    uint32_t count = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        (void)tune_once(set_all(a, 1));
        const uint32_t index = tune_once(set_all(b, 1));
        count += run >= RUNS - 20 && index == FAST_WAY_BACK ? 1 : 0;
        see_buffer(a, 1, 1);
        see_buffer(b, 1, 1);
    }
    assert_true(count >= 15);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

static void auto_tune_may_deinit_before_copy_back(void **state)
{
    (void)state;
    begin_tuning();
    for (uint32_t run = 0; run < 10; run++) {
        (void)tune_once(set_all(a, 1));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
        memset(&tuner, 0xff, sizeof tuner);
        see_buffer(a, 1, 1);
        begin_tuning();
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(host_access_reports_copy_back_time),
        cmocka_unit_test_setup_teardown(host_access_reports_copy_back_time, set_up_delivering,
                                        tear_down),
        TEST(host_access_reports_copy_back_for_any_task_id),
        TEST(copy_back_time_is_reported_once),
        TEST(buffer_deinit_reports_copy_back_time),
        cmocka_unit_test_setup_teardown(buffer_deinit_reports_copy_back_time, set_up_delivering,
                                        tear_down),
        TEST(work_in_other_domain_reports_copy_back_time),
        TEST(work_in_same_domain_reports_no_copy_back),
        TEST(copy_back_of_each_buffer_is_reported),
        TEST(policy_without_request_gets_no_copy_back_report),
        TEST(copy_back_is_reported_to_last_writer),
        TEST(overwritten_results_report_no_copy_back),
        TEST(results_overwritten_by_host_report_no_copy_back),
        TEST(failed_work_reports_no_copy_back),
        TEST(failed_start_reports_no_copy_back),
        TEST(copies_of_trial_runs_are_not_reported),
        TEST(ended_policy_gets_no_copy_back_report),
        TEST(policy_may_deinit_before_copy_back_report),
        TEST(policy_deinit_keeps_copy_back_reports_of_others),
        TEST(buffer_in_reused_slot_reports_only_its_own_copy_back),
        TEST(copy_back_report_survives_slot_reuse),
        TEST(detached_work_reports_copy_back_time),
        TEST(copy_back_behind_other_work_is_not_reported),
        TEST(copy_back_behind_other_work_is_0_where_data_are_weighed),
        TEST(copy_back_time_excludes_late_observation),
        TEST(program_reports_copy_back_time_itself),
        TEST(auto_tune_includes_copy_back_time),
        TEST(auto_tune_includes_return_time_of_shared_memory),
        TEST(auto_tune_ignores_copy_back_when_results_stay),
        TEST(auto_tune_adapts_to_changed_copy_back_time),
        TEST(auto_tune_includes_copy_back_time_of_bursts),
        TEST(auto_tune_may_deinit_before_copy_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
