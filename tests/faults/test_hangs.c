/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of a device hangs, at each of its commands: what uses it waits no longer than it has
 * to, and all else goes on.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "faults/counts.h"
#include "faults/own_queue.h"
#include "faults/sweep.h"
#include "test.h"

enum { WORDS = 64, SHORT_NS = 200000 };

static const uint64_t LONG_NS = 20000000000u;
static const uint64_t LIMIT_NS = 10000000000u;

/* The clock runs ahead, so that limits pass at once. */
static uint64_t ahead_ns;
static uint64_t step_ns;

/* Instead of the port's. */
uint64_t dynsel_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    ahead_ns += step_ns;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ahead_ns;
}

/* Which device goes on, and how the hang ends. */
static struct {
    bool apart;    /* the other device has a context of its own */
    bool given_up; /* work has a limit; else the hang ends */
    bool drains;   /* else the device that hangs is retired */
    bool shares;   /* devices use the memory of the host, where they can */
    bool fills;    /* the first work is to fill the buffer, not to change it */
} mode;

static dynsel_round_robin_policy both;   /* the device that hangs, and the other */
static dynsel_round_robin_policy second; /* the other */
static dynsel_round_robin_policy host;

static dynsel_status begin_policy(dynsel_round_robin_policy *policy,
                                  const dynsel_resource *resources, size_t count)
{
    *policy = (dynsel_round_robin_policy){0};
    return dynsel_round_robin_init(policy,
                                   &(dynsel_options){.resources = resources, .count = count}, 0);
}

static void begin(void)
{
    dynsel_resource devices[] = {fault_devices[0], fault_devices[1]};
    const dynsel_resource caller = {.backend = &dynsel_inline_backend};
    if (mode.apart) {
        devices[1] = fault_own_queue(&fault_devices[1]);
    }
    fault_must(begin_policy(&both, devices, 2) == DYNSEL_OK &&
                   begin_policy(&second, &devices[1], 1) == DYNSEL_OK &&
                   begin_policy(&host, &caller, 1) == DYNSEL_OK,
               "the policies do not begin");
    fault_aim(dynsel_opencl_queue(&fault_devices[0]));
}

static void end(void)
{
    static dynsel_round_robin_policy *const policies[] = {&both, &second, &host};
    fault_clear();
    for (size_t i = 0; i < 3; i++) {
        fault_must(dynsel_invariants_hold(&policies[i]->policy), "the invariants do not hold");
        fault_must(dynsel_policy_deinit(&policies[i]->policy) == DYNSEL_OK,
                   "a policy is still in use");
    }
    fault_must(fault_blocked() == 0, "it waited in the driver, without a bound");
    fault_nothing_runs();
}

/* A buffer, and what the groups make of it. */
typedef struct data {
    dynsel_buffer buffer;
    uint32_t *words;
    uint32_t expected[WORDS];
} data;

static _Alignas(4096) uint32_t memory[2][1024];
static data x; /* on the device that hangs */
static data y;

static void begin_data(data *d, uint32_t *words)
{
    d->words = mode.shares ? words : words + 1; /* which no device can use itself */
    for (uint32_t i = 0; i < WORDS; i++) {
        d->words[i] = i;
        d->expected[i] = i;
    }
    fault_must(dynsel_buffer_init(&d->buffer, d->words, sizeof(uint32_t), DYNSEL_RANGE(WORDS)) ==
                   DYNSEL_OK,
               "a buffer does not begin");
}

static void expect(data *d, uint32_t value)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        d->expected[i] = d->expected[i] * 3 + value;
    }
}

static bool is_right(const data *d, const uint32_t *words)
{
    bool right = true;
    for (uint32_t i = 0; i < WORDS; i++) {
        right = right && words[i] == d->expected[i];
    }
    return right;
}

static const dynsel_kernel add = {
    .name = "add",
    .source = "kernel void add(global uint *words, uint value)\n"
              "{ words[get_global_id(0)] = words[get_global_id(0)] * 3 + value; }\n"};

typedef struct job {
    dynsel_buffer buffer;
    uint32_t value;
    uint64_t limit_ns;
    bool repeatable;
} job;

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor words;
    dynsel_status status = dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_READ_WRITE,
                                             DYNSEL_MEMORY_GLOBAL, &words);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &words);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    }
#if CONFIG_DYNSEL_TIME_LIMITS
    if (status == DYNSEL_OK && j->limit_ns != 0) {
        status = dynsel_set_time_limit(handler, j->limit_ns);
    }
#endif
#if CONFIG_DYNSEL_REPEAT
    if (status == DYNSEL_OK && j->repeatable) {
        status = dynsel_set_repeatable(handler);
    }
#endif
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL)
                               : status;
}

static dynsel_status fill_all(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor words;
    dynsel_status status = dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_DISCARD_WRITE,
                                             DYNSEL_MEMORY_GLOBAL, &words);
#if CONFIG_DYNSEL_TIME_LIMITS
    if (status == DYNSEL_OK && j->limit_ns != 0) {
        status = dynsel_set_time_limit(handler, j->limit_ns);
    }
#endif
    return status == DYNSEL_OK ? dynsel_fill(handler, &words, &j->value, sizeof(j->value)) : status;
}

static void submit_fill(data *d, uint64_t limit_ns, dynsel_submission *submission)
{
    job j = {.buffer = d->buffer, .value = 7, .limit_ns = limit_ns};
    fault_must(dynsel_submit_command_group(&both.policy, fill_all, &j, submission) == DYNSEL_OK,
               "work is refused");
    for (uint32_t i = 0; i < WORDS; i++) {
        d->expected[i] = j.value;
    }
}

static void submit(dynsel_round_robin_policy *policy, data *d, uint32_t value, uint64_t limit_ns,
                   dynsel_submission *submission)
{
    job j = {.buffer = d->buffer, .value = value, .limit_ns = limit_ns};
    fault_must(dynsel_submit_command_group(&policy->policy, add_value, &j, submission) == DYNSEL_OK,
               "work is refused");
    expect(d, value);
}

static void must_end(dynsel_submission *submission, const char *what)
{
    fault_must(dynsel_wait_for(submission, LONG_NS) == DYNSEL_OK, what);
    fault_must(dynsel_wait(submission) == DYNSEL_E_STALE, "work ends twice");
}

/* Until it is open, or the queue hangs. */
static dynsel_status open_unless_hung(dynsel_host_accessor *accessor, const data *d)
{
    dynsel_status status = DYNSEL_E_TIMEOUT;
    do {
        status = dynsel_host_accessor_open_for(accessor, d->buffer, DYNSEL_ACCESS_READ, SHORT_NS);
    } while (status == DYNSEL_E_TIMEOUT && !fault_is_holding());
    return status;
}

static void must_be_readable(const data *d)
{
    dynsel_host_accessor seen = {0};
    fault_must(dynsel_host_accessor_open_for(&seen, d->buffer, DYNSEL_ACCESS_READ, LONG_NS) ==
                   DYNSEL_OK,
               "data of work that succeeded cannot be read");
    if (seen.data != NULL) {
        fault_must(is_right(d, seen.data), "the data are wrong");
        fault_must(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "an accessor does not close");
    }
}

static void end_data(data *d)
{
    fault_must(dynsel_buffer_deinit(&d->buffer) == DYNSEL_OK, "a buffer cannot be ended");
    fault_must(is_right(d, d->words), "the data are wrong");
}

static dynsel_status count_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    ++*(uint32_t *)args;
    return DYNSEL_OK;
}

/* The other device, other policies and the host. */
static void others_must_go_on(uint32_t value)
{
    dynsel_submission submission;
    uint32_t runs = 0;
    submit(&second, &y, value, 0, &submission);
    must_end(&submission, "work on the other device does not end");
    must_be_readable(&y);
    const dynsel_task task = {.function = count_run, .args = &runs};
    fault_must(dynsel_submit_and_wait(&host.policy, &task) == DYNSEL_OK && runs == 1,
               "work of the host does not run once");
}

/* What waits for the device that hangs. */
static void waits_must_be_bounded(dynsel_submission *last, bool work_hangs)
{
    dynsel_host_accessor seen = {0};
    if (work_hangs) {
        fault_must(dynsel_wait_for(last, SHORT_NS) == DYNSEL_E_TIMEOUT,
                   "work on a queue that hangs ends");
        fault_must(dynsel_submission_poll(last) == DYNSEL_E_AGAIN,
                   "work on a queue that hangs is over");
        fault_must(dynsel_wait_group_for(dynsel_get_submission_group(&both.policy), SHORT_NS) ==
                       DYNSEL_E_TIMEOUT,
                   "a group with work that hangs ends");
    }
    const dynsel_status status = open_unless_hung(&seen, &x);
    if (status == DYNSEL_OK) {
        fault_must(!work_hangs && is_right(&x, seen.data), "the data are wrong");
        fault_must(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "an accessor does not close");
    } else {
        fault_must(status == DYNSEL_E_TIMEOUT, "data cannot be read before the hang ends");
    }
}

static dynsel_resource_state state_of_first(void)
{
    dynsel_resource_state state = DYNSEL_RESOURCE_IN_SERVICE;
    fault_must(dynsel_resource_get_state(&both.policy, 0, &state) == DYNSEL_OK,
               "a state is not known");
    return state;
}

/* All work of the policy goes to the other device. */
static void first_leaves(void)
{
    const bool hung = fault_is_holding();
    fault_must((mode.drains ? dynsel_resource_drain : dynsel_resource_retire)(&both.policy, 0) ==
                   DYNSEL_OK,
               "the device cannot leave");
    if (!mode.drains || hung) {
        const dynsel_resource_state state = state_of_first();
        fault_must(state == DYNSEL_RESOURCE_OUT_OF_SERVICE ||
                       (mode.drains && state == DYNSEL_RESOURCE_DRAINING),
                   "the device has not left");
    }
    for (uint32_t i = 0; i < 2; i++) {
        dynsel_submission submission;
        submit(&both, &y, 10 + i, 0, &submission);
        fault_must(submission.index == 1, "work goes to a device that has left");
        must_end(&submission, "work of the policy does not go on");
    }
}

static void first_comes_back(void)
{
    fault_must(state_of_first() == DYNSEL_RESOURCE_OUT_OF_SERVICE, "a drain does not end");
    fault_must(dynsel_resource_reinstate(&both.policy, 0) == DYNSEL_OK,
               "the device does not come back");
    for (uint32_t i = 0; i < 2; i++) {
        dynsel_submission submission;
        submit(&both, i == 0 ? &x : &y, 20 + i, 0, &submission);
        must_end(&submission, "work does not end after the hang");
    }
}

/* The program goes on without the limit, and the hang ends. */
static void play_until_released(dynsel_submission *submissions, uint32_t count)
{
    first_leaves();
    fault_must(fault_blocked() == 0, "it waited in the driver, without a bound");
    fault_clear();
    for (uint32_t i = 0; i < count; i++) {
        must_end(&submissions[i], "work does not end after the hang");
    }
    first_comes_back();
    must_be_readable(&x);
    end_data(&x);
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* Whether the end of a buffer tells that the device that hangs may still use its memory. */
static bool is_told(dynsel_status status, bool used)
{
    return status == DYNSEL_E_DEPENDENCY || (status == DYNSEL_OK && !used);
}

/* used: the device shares their memory, or was copying them. */
static void lose_data(data *d, bool used)
{
    dynsel_host_accessor anything = {0};
    const dynsel_status status =
        dynsel_host_accessor_open(&anything, d->buffer, DYNSEL_ACCESS_READ);
    fault_must(status == DYNSEL_E_DEPENDENCY || status == DYNSEL_E_DEVICE,
               "lost data can be read, or fail with another status");
    fault_must(dynsel_host_accessor_open(&anything, d->buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
                       DYNSEL_OK &&
                   dynsel_host_accessor_close(&anything) == DYNSEL_OK &&
                   is_told(dynsel_buffer_deinit(&d->buffer), used) && d->buffer.token == 0,
               "lost data cannot be replaced");
}

/* Work that hangs, or waits for that. */
static void must_be_given_up(dynsel_submission *submission, bool hangs)
{
    const dynsel_status status = dynsel_wait(submission);
    fault_must(status == (hangs ? DYNSEL_E_GIVEN_UP : DYNSEL_E_DEPENDENCY) ||
                   (!hangs && status == DYNSEL_E_DEVICE),
               dynsel_status_name(status));
    fault_must(dynsel_wait(submission) == DYNSEL_E_STALE, "work ends twice");
}

/* The limit passes, and the device is given up; or the program gives it up. */
static void play_until_given_up(dynsel_submission *submissions, uint32_t count, bool work_hangs)
{
    uint32_t first = 0; /* that did not end before */
    while (first < count && dynsel_submission_poll(&submissions[first]) == DYNSEL_OK) {
        must_end(&submissions[first], "work that was complete fails");
        first++;
    }
    if (!work_hangs) { /* but a copy to the host, which has no limit */
        fault_must(dynsel_resource_give_up(&both.policy, 0) == DYNSEL_OK,
                   "the device cannot be given up");
    }
    step_ns = 1000000000;
    for (uint32_t i = first; i < count; i++) {
        must_be_given_up(&submissions[i], work_hangs && i == first);
    }
    step_ns = 0;
    fault_must(state_of_first() == DYNSEL_RESOURCE_LOST ||
                   state_of_first() == DYNSEL_RESOURCE_OUT_OF_SERVICE,
               "the device is not given up");
    if (mode.apart) {
        others_must_go_on(30);
    }
    if (first == count && mode.apart) { /* the other device has them */
        must_be_readable(&x);
        fault_must(is_told(dynsel_buffer_deinit(&x.buffer), true) && is_right(&x, x.words),
                   "a buffer cannot be ended, or its data are wrong");
    } else {
        lose_data(&x, mode.shares || (first == 0 && !mode.fills));
    }
}
#endif

/*
 * Two groups for each device, one that waits for the device that hangs, where that is not in the
 * driver's hands, and all else.
 */
static void play_hang(void)
{
    dynsel_submission first[3];
    dynsel_submission other[2];
    const uint64_t limit_ns = mode.given_up ? LIMIT_NS : 0;
    const uint32_t count = mode.apart ? 3 : 2;
    begin();
    begin_data(&x, memory[0]);
    begin_data(&y, memory[1]);
    for (uint32_t i = 0; i < 2; i++) {
        if (mode.fills && i == 0) {
            submit_fill(&x, limit_ns, &first[i]);
        } else {
            submit(&both, &x, i, limit_ns, &first[i]);
        }
        submit(&both, &y, i, 0, &other[i]);
        fault_must(first[i].index == 0 && other[i].index == 1, "the devices do not take turns");
    }
    const bool work_hangs = fault_is_holding(); /* else a copy to the host may, later */
    if (mode.apart) {
        submit(&second, &x, 2, 0, &first[2]);
    }
    must_end(&other[0], "work on the other device does not end");
    must_end(&other[1], "work on the other device does not end");
    others_must_go_on(3);
    waits_must_be_bounded(&first[1], work_hangs);
    const bool hung = fault_is_holding();
    if (hung && mode.given_up) {
#if CONFIG_DYNSEL_TIME_LIMITS
        play_until_given_up(first, count, work_hangs);
#endif
    } else {
        play_until_released(first, count);
    }
    end_data(&y); /* the host has seen it, so it is there, although its device may be lost */
    end();
}

#if CONFIG_DYNSEL_TIME_LIMITS && CONFIG_DYNSEL_REPEAT
/* Nobody has the data but the device whose copy to the host hangs, or they are at the host. */
static void end_after_a_look(void)
{
    dynsel_host_accessor seen = {0};
    if (open_unless_hung(&seen, &x) == DYNSEL_OK) {
        fault_must(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "an accessor does not close");
        end_data(&x);
    } else {
        fault_must(dynsel_resource_give_up(&both.policy, 0) == DYNSEL_OK,
                   "the device cannot be given up");
        lose_data(&x, true);
    }
}

/* The device works in memory of its own, so its work runs a second time, on the other one. But it
 * may still copy the inputs from the host's memory. */
static void play_repeated(void)
{
    dynsel_submission work;
    begin();
    begin_data(&x, memory[0]);
    job j = {.buffer = x.buffer, .value = 1, .limit_ns = LIMIT_NS, .repeatable = true};
    fault_must(dynsel_submit_command_group(&both.policy, add_value, &j, &work) == DYNSEL_OK &&
                   work.index == 0,
               "work is refused, or goes to the other device");
    expect(&x, j.value);
    const bool hangs = fault_is_holding();
    while (hangs && state_of_first() != DYNSEL_RESOURCE_LOST) {
        ahead_ns += LIMIT_NS; /* once, so that the second run has time */
    }
    fault_must(dynsel_wait(&work) == DYNSEL_OK, "work is not repeated");
    if (hangs) {
        must_be_readable(&x);
        fault_must(is_told(dynsel_buffer_deinit(&x.buffer), true) && is_right(&x, x.words),
                   "a buffer cannot be ended, or its data are wrong");
    } else {
        end_after_a_look();
    }
    end();
}

static void work_of_a_device_that_hangs_is_repeated(void **state)
{
    (void)state;
    const fault_scenario scenario = {.name = "repeated", .play = play_repeated};
    mode.given_up = true;
    mode.apart = true;
    mode.shares = false;
    assert_int_equal(fault_sweep_hangs(&scenario), 0);
}
#endif

static void sweep(const char *name)
{
    const fault_scenario scenario = {.name = name, .play = play_hang};
    const int forms = mode.given_up && !fault_is_whole() ? 2 : 4; /* a new context takes time */
    for (int i = 0; i < forms; i++) {
        mode.shares = (i & 1) != 0;
        mode.fills = (i & 2) != 0;
        assert_int_equal(fault_sweep_hangs(&scenario), 0);
    }
}

static void others_go_on_while_a_device_hangs(void **state)
{
    (void)state;
    mode.given_up = false;
    mode.apart = true;
    mode.drains = false;
    sweep("retired, contexts of their own");
    mode.drains = true;
    sweep("drained, contexts of their own");
}

static void others_go_on_while_a_device_of_their_context_hangs(void **state)
{
    (void)state;
    mode.given_up = false;
    mode.apart = false;
    mode.drains = false;
    sweep("retired, one context");
    mode.drains = true;
    sweep("drained, one context");
}

#if CONFIG_DYNSEL_TIME_LIMITS
static void device_that_hangs_is_given_up_after_the_limit(void **state)
{
    (void)state;
    mode.given_up = true;
    mode.drains = false;
    mode.apart = true;
    sweep("given up, contexts of their own");
    mode.apart = false;
    sweep("given up, one context");
}
#endif

static int tear_down(void **state)
{
    (void)state;
    fault_release_own_queue();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_go_on_while_a_device_hangs),
        cmocka_unit_test(others_go_on_while_a_device_of_their_context_hangs),
#if CONFIG_DYNSEL_TIME_LIMITS
        cmocka_unit_test(device_that_hangs_is_given_up_after_the_limit),
#if CONFIG_DYNSEL_REPEAT
        cmocka_unit_test(work_of_a_device_that_hangs_is_repeated),
#endif
#endif
    };
    const int failed = cmocka_run_group_tests(tests, NULL, tear_down);
    fault_print_counts();
    return failed;
}
