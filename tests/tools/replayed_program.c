/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/replayed_program.h"
#include "any_policy.h"

#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#include "random.h"
#include "test.h"
#include "tools/replayed_trace.h"

enum {
    MOST_DEVICES = 5,
    MOST_IN_FLIGHT = 8,
    KINDS = 6,
    BUFFERS = 4,
    ELEMENTS = 1 << 16,
    KEPT = 4, /* selections */
    POLICIES = 5
};

static unsigned char data[BUFFERS][ELEMENTS];

/* One program. */
static struct {
    test_random random;
    dynsel_simulated_device devices[MOST_DEVICES];
    dynsel_backend_ops ops[MOST_DEVICES]; /* as simulated devices, but some compile, or time copies
                                           */
    dynsel_backend backends[MOST_DEVICES];
    uint32_t count;
    any_policy policies[2];
    uint32_t policy_count;
    dynsel_submission flying[MOST_IN_FLIGHT];
    dynsel_selection kept[KEPT]; /* policy NULL: none */
    dynsel_buffer buffers[BUFFERS];
    uint64_t takes_ns[KINDS][MOST_DEVICES];
    uint32_t choice; /* of the command group that is recorded */
} it;

static uint32_t below(uint32_t end)
{
    return test_random_below(&it.random, end);
}

static uint32_t device_now(void)
{
    return (uint32_t)(dynsel_simulated_running() - it.devices);
}

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    const uint64_t amount = (uintptr_t)args >> 8;
    dynsel_simulated_spend(it.takes_ns[(uintptr_t)args & 0xff][device_now()] * (amount + 1));
    return DYNSEL_OK;
}

static dynsel_status run_too(const dynsel_resource *where, void *args, dynsel_event *done)
{
    return run(where, args, done);
}

static dynsel_status compute(const dynsel_launch *launch)
{
    const uint32_t kind = DYNSEL_LAUNCH_VALUE(launch, 0, uint32_t);
    dynsel_simulated_spend(it.takes_ns[kind][device_now()]);
    return DYNSEL_OK;
}

static const dynsel_kernel kernels[2] = {{.name = "named", .id = 7, .function = compute},
                                         {.name = "by_address", .function = compute}};

/* In half of the programs: how many processors of the host they compute on, or of another one. */
static void give_processors(uint64_t seed)
{
    static const uint32_t counts[] = {0, 1, 2, 8, DYNSEL_PROCESSORS_ELSEWHERE};
    test_random random = {~seed};
    const uint32_t count = test_random_below(&random, 2) == 0 ? it.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        it.devices[i].threads =
            counts[test_random_below(&random, sizeof counts / sizeof counts[0])];
    }
}

static void make_devices(void)
{
    static const char *const names[MOST_DEVICES] = {"gpu", "a device with a name of 33 characters",
                                                    "worker 0", "worker 1", "caller"};
    static const dynsel_aspect_set aspects[3] = {DYNSEL_ASPECT_BIT(gpu), DYNSEL_ASPECT_BIT(cpu),
                                                 DYNSEL_ASPECT_BIT(host)};
    it.count = 1 + below(MOST_DEVICES);
    for (uint32_t i = 0; i < it.count; i++) {
        const uint32_t kind = below(5);
        it.devices[i] = (dynsel_simulated_device){.name = names[i],
                                                  .kind = kind < 3    ? DYNSEL_SIMULATED_QUEUE
                                                          : kind == 3 ? DYNSEL_SIMULATED_THREAD
                                                                      : DYNSEL_SIMULATED_CALLER,
                                                  .aspects = aspects[kind < 2       ? 0
                                                                     : kind - 1 < 2 ? 1
                                                                                    : 2],
                                                  .memory = kind < 3 ? below(3) : 0,
                                                  .submit_ns = below(8000),
                                                  .latency_ns = below(15000),
                                                  .transfer_ns = below(8000),
                                                  .mib_ns = below(60000),
                                                  .compile_ns = below(2) == 0 ? 0 : 300000};
        it.ops[i] = *dynsel_simulated_resource(&it.devices[i]).backend->ops;
        it.ops[i].first_start_ns = below(3) == 0 ? below(200000) : 0;
        it.ops[i].times_runs_alone = below(2) == 0;
        it.backends[i].ops = &it.ops[i];
    }
    if (it.count > 1 && below(6) == 0) {
        it.devices[it.count - 1].lost_ns = 100000 + below(2000000);
    }
    for (uint32_t k = 0; k < KINDS; k++) {
        for (uint32_t i = 0; i < it.count; i++) {
            it.takes_ns[k][i] = (UINT64_C(500) << below(9)) + below(500);
        }
    }
}

static void make_policy(any_policy *policy)
{
    dynsel_resource resources[MOST_DEVICES];
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < it.count; i++) {
        resources[i] = (dynsel_resource){.backend = &it.backends[i], .handle = &it.devices[i]};
    }
    const dynsel_options options = {.resources = resources, .count = it.count};
    (void)memset(policy, 0, sizeof *policy);
    switch (below(POLICIES + 2)) {
    case 0:
        status = dynsel_fixed_resource_init(&policy->fixed_resource, &options, below(it.count));
        break;
    case 1:
        status = dynsel_round_robin_init(&policy->round_robin, &options, below(it.count));
        break;
    case 2:
        status = dynsel_dynamic_load_init(&policy->dynamic_load, &options);
        break;
    case 3:
    case 4:
        status = dynsel_auto_tune_init(&policy->auto_tune, &options,
                                       below(2) == 0 ? DYNSEL_NEVER_RESAMPLE : 500000);
        break;
    default:
        status = dynsel_earliest_finish_init(&policy->earliest_finish, &options);
        break;
    }
    assert_status(DYNSEL_OK, status);
}

/* A device may be lost, and a task may need what is not there. */
static bool is_good(dynsel_status status)
{
    return status == DYNSEL_OK || status == DYNSEL_E_OUT_OF_SERVICE || status == DYNSEL_E_DEVICE ||
           status == DYNSEL_E_ASPECT || status == DYNSEL_E_DEPENDENCY ||
           status == DYNSEL_E_UNSUPPORTED || status == DYNSEL_E_TASK || status == DYNSEL_E_AGAIN;
}

static void end(dynsel_submission *submission)
{
    if (submission->slot.value != 0) {
        assert_true(is_good(dynsel_wait(submission)));
        *submission = (dynsel_submission){.policy = NULL};
    }
}

/* The structures of a task with its key. */
typedef struct made_task {
    dynsel_task task;
    dynsel_task_form forms[2];
    uint32_t key[2];
} made_task;

static void make_task(made_task *made)
{
    const uint32_t kind = below(KINDS);
    const uint32_t amount = below(3) == 0 ? below(20) : 0;
    made->task = (dynsel_task){.function = kind % 2 == 0 ? run : run_too,
                               .args = (void *)((uintptr_t)kind | (uintptr_t)amount << 8),
                               .id = kind < 4 ? kind : 0,
                               .amount = amount};
    if (kind == 1) {
        made->key[0] = below(3);
        made->key[1] = 9;
        made->task.key_words = made->key;
        made->task.key_word_count = 1 + below(2);
    }
    if (kind == 2 && below(4) == 0) {
        made->task.aspects = DYNSEL_ASPECT_BIT(gpu);
    }
    if (kind == 3 && below(4) == 0) { /* not on the backend of the first resource */
        made->forms[0] = (dynsel_task_form){.backend = &it.backends[0], .function = NULL};
        made->forms[1] = (dynsel_task_form){.backend = NULL, .function = made->task.function};
        made->task.forms = made->forms;
        made->task.form_count = 2;
    }
}

static dynsel_status record_group(dynsel_handler *handler, void *args)
{
    (void)args;
    const uint32_t kind = it.choice % KINDS;
    const uint32_t uses = 1 + it.choice / 8 % 2;
    dynsel_set_arg_value(handler, 0, &kind, sizeof kind);
    for (uint32_t i = 0; i < uses; i++) {
        dynsel_accessor accessor;
        dynsel_get_access(handler, it.buffers[(it.choice / 16 + i) % BUFFERS],
                          i == 0 ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ,
                          DYNSEL_MEMORY_GLOBAL, &accessor);
        dynsel_set_arg_accessor(handler, i + 1, &accessor);
    }
    return dynsel_parallel_for(handler, &kernels[it.choice / 64 % 2],
                               DYNSEL_RANGE(1u << it.choice / 128 % 12), NULL, NULL);
}

static void step_group(dynsel_policy *policy)
{
    dynsel_submission *submission = &it.flying[below(MOST_IN_FLIGHT)];
    end(submission);
    it.choice = below(1 << 16);
    *submission = (dynsel_submission){.policy = NULL};
    assert_true(is_good(dynsel_submit_command_group(policy, record_group, NULL, submission)));
}

static void step_task(dynsel_policy *policy)
{
    made_task made;
    dynsel_submission *submission = &it.flying[below(MOST_IN_FLIGHT)];
    end(submission);
    make_task(&made);
    *submission = (dynsel_submission){.policy = NULL};
    assert_true(is_good(dynsel_submit(policy, &made.task, submission)));
}

/* A selection that is dropped, submitted later, or run by the program. */
static void step_selection(dynsel_policy *policy)
{
    dynsel_selection *kept = &it.kept[below(KEPT)];
    made_task made;
    if (kept->policy == NULL || below(3) == 0) {
        make_task(&made);
        made.task.aspects = 0;
        made.task.form_count = 0;
        *kept = (dynsel_selection){.policy = NULL};
        assert_true(is_good(dynsel_select(policy, &made.task, kept)));
    } else if (below(2) == 0) {
        make_task(&made);
        made.task.aspects = 0;
        made.task.form_count = 0;
        assert_true(is_good(dynsel_submit_selection(kept, &made.task, NULL)));
        *kept = (dynsel_selection){.policy = NULL};
    } else {
        assert_status(DYNSEL_OK, dynsel_report(kept, DYNSEL_TASK_SUBMISSION));
        dynsel_simulated_spend(1000 + below(1000));
        assert_status(DYNSEL_OK, dynsel_report_value(kept, DYNSEL_TASK_TIME, 1000 + below(9000)));
        if (below(2) == 0) {
            assert_status(DYNSEL_OK,
                          dynsel_report_value(kept, DYNSEL_TASK_READBACK_TIME, below(5000)));
        }
        assert_status(DYNSEL_OK, dynsel_report(kept, DYNSEL_TASK_COMPLETION));
        *kept = (dynsel_selection){.policy = NULL};
    }
}

static void step_state(dynsel_policy *policy)
{
    const uint32_t index = below(it.count);
    if (below(2) == 0) {
        assert_true(dynsel_resource_drain(policy, index) <= 0);
    } else {
        assert_true(dynsel_resource_reinstate(policy, index) <= 0);
    }
}

static void step_host(void)
{
    dynsel_host_accessor accessor = {.data = NULL};
    const dynsel_access_mode mode =
        below(2) == 0 ? DYNSEL_ACCESS_READ : DYNSEL_ACCESS_DISCARD_WRITE;
    const dynsel_status status =
        dynsel_host_accessor_open(&accessor, it.buffers[below(BUFFERS)], mode);
    assert_true(is_good(status));
    if (status == DYNSEL_OK) {
        dynsel_simulated_spend(below(3000));
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    }
}

static void end_all(void)
{
    for (uint32_t i = 0; i < MOST_IN_FLIGHT; i++) {
        end(&it.flying[i]);
    }
    for (uint32_t i = 0; i < it.policy_count; i++) {
        assert_true(
            is_good(dynsel_wait_group(dynsel_get_submission_group(&it.policies[i].policy))));
    }
}

static void step(void)
{
    dynsel_policy *policy = &it.policies[below(it.policy_count)].policy;
    const uint32_t what = below(100);
    if (what < 50) {
        step_task(policy);
    } else if (what < 75) {
        step_group(policy);
    } else if (what < 85) {
        step_selection(policy);
    } else if (what < 87) {
        step_state(policy);
    } else if (what < 92) {
        step_host();
    } else if (what < 99) {
        dynsel_simulated_spend(below(20000));
    } else { /* another policy at the same place in memory */
        end_all();
        (void)memset(it.kept, 0, sizeof it.kept);
        const uint32_t which = below(it.policy_count);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&it.policies[which].policy));
        make_policy(&it.policies[which]);
    }
}

void replayed_program_record(const char *path, uint64_t seed)
{
    (void)memset(&it, 0, sizeof it);
    it.random.state = seed;
    dynsel_simulated_restart();
    replayed_trace_begin();
    make_devices();
    give_processors(seed);
    it.policy_count = 1 + below(2);
    for (uint32_t i = 0; i < it.policy_count; i++) {
        make_policy(&it.policies[i]);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_buffer_init(&it.buffers[i], data[i], 1, DYNSEL_RANGE(ELEMENTS >> i)));
    }
    const uint32_t steps = 20 + below(600);
    for (uint32_t i = 0; i < steps; i++) {
        step();
    }
    end_all();
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_true(is_good(dynsel_buffer_deinit(&it.buffers[i])));
    }
    for (uint32_t i = 0; i < it.policy_count; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&it.policies[i].policy));
    }
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    replayed_trace_write(path);
}
