/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable command groups: their device fails, and they end as if they had run once. */
#include "data/pair.h"
#include "room.h"

enum { FIRST, SECOND, THIRD, COUNT };

static dynsel_round_robin_policy round_robin;
static dynsel_policy *const policy = &round_robin.policy;
static dynsel_repeat_statistics before;

/* What the kernel does; it must not call the library. */
static unsigned runs;
static unsigned failures_left;
static bool is_repeatable;
static dynsel_access_mode mode; /* of a */
#if CONFIG_DYNSEL_TIME_LIMITS
static uint64_t limit_ns; /* 0: none */
#endif

static void begin_policy(unsigned first, unsigned second)
{
    dynsel_resource resources[2];
    size_t count = 0;
    resources[0] = *dynsel_get_resources(&places[first].policy, &count);
    resources[1] = *dynsel_get_resources(&places[second].policy, &count);
    round_robin = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK,
                  dynsel_round_robin_init(
                      &round_robin, &(dynsel_options){.resources = resources, .count = 2}, 0));
    before = dynsel_get_repeat_statistics();
    runs = 0;
    failures_left = 0;
    is_repeatable = true;
    mode = DYNSEL_ACCESS_READ_WRITE;
}

static void end_policy(void)
{
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
}

static uint32_t repeated(void)
{
    return dynsel_get_repeat_statistics().repeated - before.repeated;
}

/* a := b + 1, or a + b + 1. A run that fails spoils what it writes. */
static dynsel_status work(const dynsel_launch *launch)
{
    int32_t *to = dynsel_launch_data(launch, 0);
    const int32_t *from = dynsel_launch_data(launch, 1);
    const bool fails = failures_left > 0;
    failures_left -= fails ? 1 : 0;
    runs++;
    for (size_t i = 0; i < ELEMENTS; i++) {
        const int32_t old = mode == DYNSEL_ACCESS_READ_WRITE ? to[i] : 0;
        to[i] = fails ? -1000 - (int32_t)i : old + from[i] + 1;
    }
    return fails ? DYNSEL_E_DEVICE : DYNSEL_OK;
}

static dynsel_status record_work(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "work", .function = work};
    (void)args;
    dynsel_accessor to;
    dynsel_accessor from;
    if (is_repeatable) {
        (void)dynsel_set_repeatable(handler);
    }
#if CONFIG_DYNSEL_TIME_LIMITS
    if (limit_ns != 0) {
        (void)dynsel_set_time_limit(handler, limit_ns);
    }
#endif
    (void)dynsel_get_access(handler, a, mode, DYNSEL_MEMORY_GLOBAL, &to);
    (void)dynsel_get_access(handler, b, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &from);
    (void)dynsel_set_arg_accessor(handler, 0, &to);
    (void)dynsel_set_arg_accessor(handler, 1, &from);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static dynsel_status submit(dynsel_submission *submission)
{
    return dynsel_try_submit_command_group(policy, record_work, NULL, submission);
}

/* How a device has its memory: its own, shared with the host, or shared once it is handed over. */
typedef enum memory_kind { OWN, SHARED, MAPPED, MEMORY_KINDS } memory_kind;

static void set_memory(unsigned device, memory_kind kind)
{
    sim.devices[device].shares = kind != OWN;
    sim.devices[device].maps_first = kind == MAPPED;
}

/* Else it is over when its submit returns. */
static void let_work_take_time(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        sim.devices[i].polls = 3;
        sim.devices[i].pace = SIMULATED_WHEN_POLLED;
    }
}

/* Where the data are when the work is submitted. */
static void place_data(unsigned where)
{
    if (where < COUNT) {
        run_on(where, add_to(a, 0));
        run_on(where, add_to(b, 0));
    }
}

typedef enum failing {
    IN_KERNEL,
    IN_ALLOCATE,
    IN_LAUNCH,
    LATE_IN_LAUNCH,
    IN_BRING,
    LATE_IN_BRING,
    FAILINGS
} failing;

static void let_fail(failing how)
{
    static const simulated_kind kinds[FAILINGS] = {[IN_ALLOCATE] = SIMULATED_ALLOCATE,
                                                   [IN_LAUNCH] = SIMULATED_LAUNCH,
                                                   [LATE_IN_LAUNCH] = SIMULATED_LAUNCH,
                                                   [IN_BRING] = SIMULATED_BRING,
                                                   [LATE_IN_BRING] = SIMULATED_BRING};
    if (how == IN_KERNEL) {
        failures_left = 1;
    } else {
        simulated_fail(&sim, kinds[how], 1, how == LATE_IN_LAUNCH || how == LATE_IN_BRING,
                       DYNSEL_E_DEVICE);
    }
}

/* Whether the ordered failure took place. */
static bool has_failed(void)
{
    return repeated() == 1;
}

/* On the device that failed, too, or only in the host's memory. */
static void check_result(bool on_device)
{
    const int32_t slope = mode == DYNSEL_ACCESS_READ_WRITE ? 0 : -1;
    if (on_device) {
        run_on(FIRST, add_to(b, 1));
        run_on(FIRST, add_to(a, 1));
    }
    see_buffer(a, on_device ? 2 : 1, slope);
    see_buffer(b, on_device ? 1 : 0, -1);
}

static unsigned playing; /* the number of the case */

typedef struct one_case {
    memory_kind first, second;
    unsigned where; /* of the second run */
    unsigned data;
    failing how;
    bool polled;
    bool lost; /* what the devices had, when one of them fails */
    bool used_again;
    dynsel_access_mode mode;
} one_case;

static bool play(const one_case *c)
{
    begin(false);
    set_memory(FIRST, c->first);
    set_memory(SECOND, c->second);
    if (c->where == THIRD) {
        sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    }
    begin_policy(FIRST, c->where);
    sim.failures_are_losses = c->lost;
    place_data(c->data);
    mode = c->mode;
    if (c->polled) {
        let_work_take_time();
    }
    let_fail(c->how);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    const dynsel_status status = dynsel_wait(&submission);
    if (status != DYNSEL_OK) {
        char text[200];
        (void)dynsel_error_text(NULL, text, sizeof text);
        print_error("case %u: %s\n", playing, text);
    }
    assert_int_equal(DYNSEL_OK, status);
    const bool failed = has_failed();
    simulated_fail(&sim, 0, 0, false, DYNSEL_OK);
    failures_left = 0;
    check_result(c->used_again);
    end_policy();
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
    return failed;
}

static void each_failure_ends_as_one_run_would(void **state)
{
    (void)state;
    enum { CASES = MEMORY_KINDS * MEMORY_KINDS * 3 * 5 * FAILINGS * 16 };
    static const unsigned seconds[] = {SECOND, THIRD, HOST};
    unsigned count = 0;
    unsigned failed = 0;
    for (unsigned i = 0; i < CASES; i++) {
        unsigned rest = i;
        one_case c = {.mode = DYNSEL_ACCESS_READ_WRITE};
        c.first = (memory_kind)(rest % MEMORY_KINDS), rest /= MEMORY_KINDS;
        c.second = (memory_kind)(rest % MEMORY_KINDS), rest /= MEMORY_KINDS;
        c.where = seconds[rest % 3], rest /= 3;
        c.data = rest % 5, rest /= 5; /* of the three devices, or HOST */
        c.how = (failing)(rest % FAILINGS), rest /= FAILINGS;
        c.polled = rest % 2 != 0, rest /= 2;
        c.lost = rest % 2 != 0, rest /= 2;
        c.used_again = rest % 2 != 0, rest /= 2;
        c.mode = rest % 2 != 0 ? DYNSEL_ACCESS_DISCARD_WRITE : DYNSEL_ACCESS_READ_WRITE;
        count++;
        playing = i;
        failed += play(&c) ? 1 : 0;
    }
    print_message("%u cases, %u with a failure and a second run\n", count, failed);
    assert_true(failed > count / 3);
}

/* Two devices of one kind. */
static int set_up_repeat(void **state)
{
    (void)state;
    begin(false);
    set_memory(FIRST, OWN);
    set_memory(SECOND, OWN);
    begin_policy(FIRST, SECOND);
    return 0;
}

static int tear_down_repeat(void **state)
{
    (void)state;
    end_policy();
    places_hurry();
    (void)!dynsel_buffer_deinit(&a);
    (void)!dynsel_buffer_deinit(&b);
    places_end();
    return 0;
}

static void dependents_find_what_the_second_run_wrote(void **state)
{
    (void)state;
    dynsel_submission submissions[3];
    let_work_take_time();
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[0]));
    const job next = add_to(a, 10);
    assert_status(DYNSEL_OK, send_job(FIRST, &next, &submissions[1]));
    assert_status(DYNSEL_OK, send_job(SECOND, &next, &submissions[2]));
    for (unsigned i = 3; i > 0; i--) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i - 1]));
    }
    assert_int_equal(1, repeated());
    assert_int_equal(2, runs);
    see_buffer(a, 21, 0);
}

static void chain_of_repeatable_groups_survives_a_failure_of_each(void **state)
{
    (void)state;
    enum { LINKS = 3 };
    dynsel_submission submissions[LINKS];
    for (unsigned i = 0; i < LINKS; i++) {
        failures_left = 1;
        assert_status(DYNSEL_OK, submit(&submissions[i]));
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    assert_int_equal(LINKS, repeated());
    see_buffer(a, LINKS, 1 - LINKS);
}

static void second_failure_of_a_group_is_told_once(void **state)
{
    (void)state;
    failures_left = 2;
    assert_status(DYNSEL_OK, submit(NULL));
    const job reads = copy_to(b, a);
    dynsel_submission dependent;
    assert_status(DYNSEL_OK, send_job(SECOND, &reads, &dependent));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&dependent));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_int_equal(2, runs);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
}

static void group_that_can_run_nowhere_else_leaves_its_buffers_as_they_were(void **state)
{
    (void)state;
    atomic_store(&sim.devices[SECOND].refuses, true);
    failures_left = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_int_equal(1, runs);
    assert_int_equal(1, dynsel_get_repeat_statistics().nowhere - before.nowhere);
    run_on(THIRD, add_to(a, 1));
    see_buffer(a, 1, 1);
    atomic_store(&sim.devices[SECOND].refuses, false);
}

static void second_run_of_a_group_waits_for_a_full_resource(void **state)
{
    (void)state;
    atomic_store(&sim.devices[SECOND].is_full, true);
    failures_left = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission));
    }
    atomic_store(&sim.devices[SECOND].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    see_buffer(a, 1, 0);
}

static void cancelled_group_gives_both_slots_back(void **state)
{
    (void)state;
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ_WRITE));
    const uint32_t in_use = dynsel_get_in_flight_statistics().in_use;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_int_equal(in_use + 2, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, dynsel_cancel(&submission));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait(&submission));
    assert_int_equal(0, runs);
}

static void submit_that_chooses_no_resource_gives_both_slots_back(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_RESOURCE_STATES
    dynsel_resource_state old = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    atomic_store(&sim.devices[SECOND].refuses, true);
    dynsel_submission submission;
    const dynsel_status status = submit(&submission);
    assert_true(status == DYNSEL_E_OUT_OF_SERVICE ||
                (status == DYNSEL_OK && dynsel_wait(&submission) == DYNSEL_E_OUT_OF_SERVICE));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, submit(&submission));
    assert_status(DYNSEL_OK, dynsel_resource_get_state(policy, 0, &old));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    atomic_store(&sim.devices[SECOND].refuses, false);
#else
    skip();
#endif
}

static dynsel_buffer large;

static dynsel_status record_large(dynsel_handler *handler, void *args)
{
    dynsel_accessor to;
    const dynsel_access_mode *const how = args;
    (void)dynsel_set_repeatable(handler);
    (void)dynsel_get_access(handler, large, *how, DYNSEL_MEMORY_GLOBAL, &to);
    const unsigned char zero = 0;
    return dynsel_fill(handler, &to, &zero, 1);
}

static void group_whose_input_cannot_be_kept_is_refused(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_KEPT_BYTES <= 1 << 20);
    static unsigned char data[CONFIG_DYNSEL_KEPT_BYTES + 1];
    assert_status(DYNSEL_OK, dynsel_buffer_init(&large, data, 1, DYNSEL_RANGE(sizeof data)));
    dynsel_access_mode how = DYNSEL_ACCESS_READ_WRITE;
    assert_status(DYNSEL_E_INVALID, dynsel_submit_command_group(policy, record_large, &how, NULL));
    assert_error_says("write to another buffer");
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    how = DYNSEL_ACCESS_DISCARD_WRITE;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, record_large, &how));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&large));
}

static void submit_without_room_for_a_second_run_is_refused(void **state)
{
    (void)state;
    sim.devices[FIRST].pace = SIMULATED_BY_HAND;
    sim.devices[SECOND].pace = SIMULATED_BY_HAND;
    unsigned count = 0;
    dynsel_status status = DYNSEL_OK;
    while (status == DYNSEL_OK) {
        status = submit(NULL);
        count += status == DYNSEL_OK ? 1 : 0;
    }
    assert_int_equal(DYNSEL_E_FULL, status);
    assert_true(count <= CONFIG_DYNSEL_KEPT_COUNT);
    assert_true(count <= CONFIG_DYNSEL_MAX_IN_FLIGHT / 2);
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    see_buffer(a, (int32_t)count, 1 - (int32_t)count);
}

/* On another queue of the domain, so that its command could come after that of the first run. */
static void dependent_in_the_same_domain_waits_for_the_second_run(void **state)
{
    (void)state;
    sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    let_work_take_time();
    place_data(FIRST); /* so that it waits for no copy */
    dynsel_submission submissions[2];
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[0]));
    const job next = add_to(a, 10);
    assert_status(DYNSEL_OK, send_job(THIRD, &next, &submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(1, repeated());
    see_buffer(a, 11, 0);
}

/* The first run began, on the host; the second never does. */
static void second_run_that_never_began_leaves_the_buffer_as_it_was(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    begin_policy(HOST, SECOND);
    let_work_take_time();
    failures_left = 1;
    simulated_fail(&sim, SIMULATED_BRING, 1, true, DYNSEL_E_DEVICE);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_int_equal(1, runs);
    assert_int_equal(1, repeated());
    run_on(THIRD, add_to(a, 1));
    see_buffer(a, 1, 1);
}

/* A policy that takes the first resource it may use, and counts what it is told. */
static unsigned told_of_start;
static unsigned told_of_withdrawal;
static unsigned told_of_copy_back;

static dynsel_status choose_first(dynsel_policy *asked, const dynsel_task *task,
                                  dynsel_selection *selection)
{
    selection->index = 0;
    selection->wants |= DYNSEL_TASK_READBACK_TIME;
    while (!dynsel_policy_may_use(asked, selection->index, task)) {
        if (++selection->index == asked->count) {
            return DYNSEL_E_OUT_OF_SERVICE;
        }
    }
    return DYNSEL_OK;
}

static void count_report(dynsel_policy *told, const dynsel_selection *selection,
                         dynsel_execution_info info, uint64_t value)
{
    (void)told;
    (void)selection;
    (void)value;
    told_of_start += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    told_of_withdrawal += info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
    told_of_copy_back += info == DYNSEL_TASK_READBACK_TIME ? 1 : 0;
}

static dynsel_policy listening;

static void begin_listening(size_t count)
{
    static const dynsel_policy_ops ops = {.name = "listening",
                                          .needs = DYNSEL_TASK_SUBMISSION,
                                          .try_select = choose_first,
                                          .report = count_report};
    dynsel_resource resources[2];
    for (unsigned i = 0; i < 2; i++) {
        resources[i] = simulated_resource(&sim, i);
    }
    listening = (dynsel_policy){0};
    told_of_start = 0;
    told_of_withdrawal = 0;
    told_of_copy_back = 0;
    assert_status(DYNSEL_OK,
                  dynsel_policy_init(&listening, &ops,
                                     &(dynsel_options){.resources = resources, .count = count}));
}

static void each_refused_start_of_a_second_run_is_withdrawn(void **state)
{
    (void)state;
    enum { REFUSED = 3 };
    begin_listening(2);
    failures_left = 1;
    atomic_store(&sim.devices[SECOND].full_for, REFUSED);
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_try_submit_command_group(&listening, record_work, NULL, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(2 + REFUSED, told_of_start);
    assert_int_equal(REFUSED, told_of_withdrawal);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listening));
}

/* What is copied back is older than the group. */
static void failed_only_run_reports_no_copy_back(void **state)
{
    (void)state;
    run_on(THIRD, add_to(a, 1));
    begin_listening(1); /* so that the first run is the only one */
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    failures_left = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_try_submit_command_group(&listening, record_work, NULL, &submission));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    see_buffer(a, 1, 1);
    assert_int_equal(0, told_of_copy_back);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listening));
}

/* The device that fails shares the host's memory, which has other contents than the buffer. */
static void failed_only_run_leaves_what_another_device_has(void **state)
{
    (void)state;
    for (memory_kind kind = SHARED; kind <= MAPPED; kind++) {
        set_memory(FIRST, kind);
        run_on(THIRD, set_all(a, 1));
        begin_listening(1);
        mode = DYNSEL_ACCESS_DISCARD_WRITE;
        failures_left = 1;
        assert_status(DYNSEL_OK,
                      dynsel_try_submit_command_group(&listening, record_work, NULL, NULL));
        assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(&listening)));
        run_on(FIRST, add_to(a, 1));
        see_buffer(a, 2, 1);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&listening));
    }
}

/* Where a group runs once, in the host's memory: on the host, or on a device that shares it. */
typedef struct only_run {
    unsigned where;
    memory_kind kind;
} only_run;

static const only_run only_runs[] = {{HOST, OWN}, {FIRST, SHARED}, {FIRST, MAPPED}};

enum { ONLY_RUNS = sizeof only_runs / sizeof only_runs[0] };

/* It fails as was arranged. */
static void run_once(const only_run *run, dynsel_access_mode how)
{
    set_memory(FIRST, run->kind);
    mode = how;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_try_submit_command_group(&places[run->where].policy,
                                                             record_work, NULL, &submission));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
}

static void fail_only_run(const only_run *run, dynsel_access_mode how)
{
    failures_left = 1;
    run_once(run, how);
    assert_int_equal(0, failures_left);
}

static void begin_anew(void **state)
{
    (void)tear_down_repeat(state);
    (void)set_up_repeat(state);
}

static void see_lost(dynsel_buffer buffer)
{
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_E_DEPENDENCY,
                  dynsel_host_accessor_open(&accessor, buffer, DYNSEL_ACCESS_READ));
}

static void failed_only_run_leaves_what_it_overwrote_at_the_host(void **state)
{
    for (unsigned i = 0; i < 2 * ONLY_RUNS; i++) {
        if (i >= ONLY_RUNS) {
            let_work_take_time();
        }
        fail_only_run(&only_runs[i % ONLY_RUNS], DYNSEL_ACCESS_READ_WRITE);
        see_buffer(a, 0, 1);
        run_on(THIRD, add_to(a, 1));
        see_buffer(a, 1, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* The contents that it discards were in the memory of the device only. */
static void failed_only_run_loses_what_only_its_device_had(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        run_on(FIRST, set_all(a, 1));
        if (i != 0) {
            let_work_take_time();
        }
        fail_only_run(&(const only_run){FIRST, OWN}, DYNSEL_ACCESS_DISCARD_WRITE);
        see_lost(a);
        assert_int_equal(a.token, dynsel_last_error()->buffer);
        assert_status(DYNSEL_E_DEPENDENCY,
                      run_job(THIRD, &(const job){.kind = ADD, .buffers = {a}}));
        run_on(SECOND, set_all(a, 7));
        see_buffer(a, 7, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* The device has the memory, and does not give it back. */
static void failed_only_run_loses_what_cannot_be_put_back(void **state)
{
    (void)state;
    for (unsigned i = 1; i < ONLY_RUNS; i++) {
        simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_READ_WRITE);
        see_lost(a);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

static void lose_in_fetch(unsigned device, simulated_kind kind)
{
    (void)device;
    sim.failures_are_losses = kind == SIMULATED_FETCH;
}

/* The device is lost when it gives the memory back: that is the host's. */
static void failed_only_run_leaves_what_a_lost_device_shared(void **state)
{
    for (unsigned i = 1; i < ONLY_RUNS; i++) {
        sim.taking_place = lose_in_fetch;
        simulated_fail(&sim, SIMULATED_FETCH, 1, true, DYNSEL_E_DEVICE);
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_READ_WRITE);
        assert_true(sim.failures_are_losses);
        see_buffer(a, 0, 1);
        run_on(THIRD, add_to(a, 1));
        see_buffer(a, 1, 1);
        begin_anew(state);
    }
}

/* Nobody keeps what is not read. */
static void failed_only_run_loses_what_it_discards_at_the_host(void **state)
{
    for (unsigned i = 0; i < ONLY_RUNS; i++) {
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_DISCARD_WRITE);
        see_lost(a);
        assert_status(DYNSEL_E_DEPENDENCY,
                      run_job(THIRD, &(const job){.kind = ADD, .buffers = {a}}));
        run_on(SECOND, set_all(a, 7));
        see_buffer(a, 7, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

static void failed_only_run_that_never_began_loses_nothing(void **state)
{
    static const failing never_began[] = {IN_LAUNCH, IN_ALLOCATE};
    for (unsigned i = 0; i < 2 * (ONLY_RUNS - 1); i++) {
        let_fail(never_began[i % 2]);
        run_once(&only_runs[1 + i / 2], DYNSEL_ACCESS_DISCARD_WRITE);
        assert_int_equal(0, runs);
        see_buffer(a, 0, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* Nor what only the memory of the device has. */
static void failed_only_run_that_never_began_leaves_what_only_its_device_has(void **state)
{
    static const failing never_began[] = {IN_LAUNCH, LATE_IN_BRING};
    for (unsigned i = 0; i < 2; i++) {
        run_on(FIRST, set_all(a, 1));
        let_work_take_time();
        let_fail(never_began[i]);
        set_memory(FIRST, OWN);
        mode = DYNSEL_ACCESS_DISCARD_WRITE;
        dynsel_submission submission;
        const dynsel_status submitted =
            dynsel_try_submit_command_group(&places[FIRST].policy, record_work, NULL, &submission);
        const dynsel_status status = submitted == DYNSEL_OK ? dynsel_wait(&submission) : submitted;
        assert_true(status == DYNSEL_E_DEVICE || status == DYNSEL_E_DEPENDENCY);
        assert_int_equal(0, runs);
        see_buffer(a, 1, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* What it discards at the host is on a device, too. */
static void failed_only_run_leaves_a_copy_of_what_it_discards(void **state)
{
    for (unsigned i = 0; i < ONLY_RUNS; i++) {
        run_on(THIRD, add_to(a, 1));
        see_buffer(a, 1, 1);
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_DISCARD_WRITE);
        see_buffer(a, 1, 1);
        run_on(FIRST, add_to(a, 1));
        see_buffer(a, 2, 1);
        begin_anew(state);
    }
}

static void second_run_that_never_began_loses_what_the_first_discarded(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    begin_policy(HOST, SECOND);
    let_work_take_time();
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    failures_left = 1;
    simulated_fail(&sim, SIMULATED_BRING, 1, true, DYNSEL_E_DEVICE);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_int_equal(1, runs);
    see_lost(a);
}

/* Where transfers do not wait for the work before them in the queue. */
static void input_is_kept_after_work_that_writes_it(void **state)
{
    (void)state;
    sim.devices[FIRST].moves_beside = true;
    let_work_take_time();
    place_data(FIRST);
    dynsel_submission submissions[2];
    const job writes = add_to(b, 10);
    assert_status(DYNSEL_OK, send_job(FIRST, &writes, &submissions[0]));
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(1, repeated());
    see_buffer(a, 11, 0);
    see_buffer(b, 10, -1);
}

/* The copy that the first run made is not there any more. */
static void reader_of_the_same_input_does_not_wait_for_the_second_run(void **state)
{
    (void)state;
    static int32_t seen[ELEMENTS];
    dynsel_buffer copy = new_buffer(seen);
    sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    let_work_take_time();
    atomic_store(&sim.devices[SECOND].is_full, true);
    dynsel_submission submissions[2];
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[0]));
    const job reads = copy_to(copy, b);
    assert_status(DYNSEL_OK, send_job(THIRD, &reads, &submissions[1]));
    dynsel_status status = DYNSEL_E_AGAIN;
    for (unsigned i = 0; i < 100 && status == DYNSEL_E_AGAIN; i++) {
        status = dynsel_submission_poll(&submissions[1]);
    }
    assert_int_equal(DYNSEL_OK, status);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submissions[0]));
    atomic_store(&sim.devices[SECOND].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(1, repeated());
    see_buffer(a, 1, 0);
    see_buffer(copy, 0, -1);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&copy));
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* Its only run fails while another device of the domain hangs with work that reads the buffer in
 * the same memory: what it overwrote is put back when that is given up. Its own limit is over with
 * its run. */
static void failed_only_run_waits_for_a_hanging_reader_until_it_is_given_up(void **state)
{
    enum { LOOKS = 1000 };
    static int32_t seen[ELEMENTS];
    (void)state;
    dynsel_buffer copy = new_buffer(seen);
    set_memory(FIRST, MAPPED);
    set_memory(THIRD, MAPPED);
    sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    sim.devices[THIRD].pace = SIMULATED_BY_HAND;
    sim.wait_sleeps = true;
    dynsel_submission submissions[2];
    const job hangs = copy_to(copy, a);
    assert_status(DYNSEL_OK, send_job(THIRD, &hangs, &submissions[0]));
    for (int i = 0; i < 2; i++) {
        assert_true(simulated_step(&sim, THIRD)); /* its memory is ready */
    }
    let_fail(IN_LAUNCH);
    limit_ns = 1;
    assert_status(DYNSEL_OK, dynsel_try_submit_command_group(&places[FIRST].policy, record_work,
                                                             NULL, &submissions[1]));
    limit_ns = 0;
    for (int i = 0; i < LOOKS; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submissions[1]));
    }
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&places[THIRD].policy, 0));
    sim.wait_sleeps = false;
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submissions[0]));
    assert_int_equal(0, runs);
    see_buffer(a, 0, 1);
    (void)!dynsel_buffer_deinit(&copy);
}
#endif

#define REPEAT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_repeat, tear_down_repeat)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_ends_as_one_run_would),
        REPEAT_TEST(dependents_find_what_the_second_run_wrote),
        REPEAT_TEST(chain_of_repeatable_groups_survives_a_failure_of_each),
        REPEAT_TEST(second_failure_of_a_group_is_told_once),
        REPEAT_TEST(group_that_can_run_nowhere_else_leaves_its_buffers_as_they_were),
        REPEAT_TEST(second_run_of_a_group_waits_for_a_full_resource),
        REPEAT_TEST(cancelled_group_gives_both_slots_back),
        REPEAT_TEST(submit_that_chooses_no_resource_gives_both_slots_back),
        REPEAT_TEST(group_whose_input_cannot_be_kept_is_refused),
        REPEAT_TEST(submit_without_room_for_a_second_run_is_refused),
        REPEAT_TEST(dependent_in_the_same_domain_waits_for_the_second_run),
        REPEAT_TEST(second_run_that_never_began_leaves_the_buffer_as_it_was),
        REPEAT_TEST(each_refused_start_of_a_second_run_is_withdrawn),
        REPEAT_TEST(failed_only_run_reports_no_copy_back),
        REPEAT_TEST(failed_only_run_leaves_what_another_device_has),
        REPEAT_TEST(failed_only_run_leaves_what_it_overwrote_at_the_host),
        REPEAT_TEST(failed_only_run_loses_what_cannot_be_put_back),
        REPEAT_TEST(failed_only_run_leaves_what_a_lost_device_shared),
        REPEAT_TEST(failed_only_run_loses_what_it_discards_at_the_host),
        REPEAT_TEST(failed_only_run_loses_what_only_its_device_had),
        REPEAT_TEST(failed_only_run_that_never_began_loses_nothing),
        REPEAT_TEST(failed_only_run_that_never_began_leaves_what_only_its_device_has),
        REPEAT_TEST(failed_only_run_leaves_a_copy_of_what_it_discards),
        REPEAT_TEST(second_run_that_never_began_loses_what_the_first_discarded),
        REPEAT_TEST(input_is_kept_after_work_that_writes_it),
#if CONFIG_DYNSEL_TIME_LIMITS
        REPEAT_TEST(failed_only_run_waits_for_a_hanging_reader_until_it_is_given_up),
#endif
        REPEAT_TEST(reader_of_the_same_input_does_not_wait_for_the_second_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
