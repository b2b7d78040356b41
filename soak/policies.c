/* SPDX-License-Identifier: Apache-2.0 */
#include "policies.h"

#include <stdatomic.h>

#include <dynsel/dynsel.h>

static atomic_ullong told_submissions;
static atomic_ullong told_completions;
static atomic_ullong told_times;
static atomic_uint turn;

static dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    size_t count = 0;
    (void)dynsel_get_resources(policy, &count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = (uint32_t)(atomic_fetch_add(&turn, 1) % count);
        if (dynsel_policy_may_use(policy, index, task)) {
            selection->index = index;
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(policy, task);
}

static void report(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    switch (info) {
    case DYNSEL_TASK_SUBMISSION:
        atomic_fetch_add_explicit(&told_submissions, 1, memory_order_relaxed);
        break;
    case DYNSEL_TASK_WITHDRAWN:
        atomic_fetch_sub_explicit(&told_submissions, 1, memory_order_relaxed);
        break;
    case DYNSEL_TASK_COMPLETION:
        atomic_fetch_add_explicit(&told_completions, 1, memory_order_relaxed);
        break;
    case DYNSEL_TASK_TIME:
    case DYNSEL_TASK_START_TIME:
    case DYNSEL_TASK_READBACK_TIME:
    case DYNSEL_TASK_WITHOUT_COPIES:
    default:
        atomic_fetch_add_explicit(&told_times, 1, memory_order_relaxed);
        break;
    }
}

static const dynsel_policy_ops counting_ops = {
    .name = "counting",
    .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .try_select = try_select,
    .report = report,
};

static dynsel_policy counting;

static dynsel_status init_counting(const dynsel_options *options)
{
    return dynsel_policy_init(&counting, &counting_ops, options);
}

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
static dynsel_round_robin_policy round_robin;

static dynsel_status init_round_robin(const dynsel_options *options)
{
    return dynsel_round_robin_init(&round_robin, options, 0);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static dynsel_dynamic_load_policy dynamic_load;

static dynsel_status init_dynamic_load(const dynsel_options *options)
{
    return dynsel_dynamic_load_init(&dynamic_load, options);
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static dynsel_auto_tune_policy auto_tune;

static dynsel_status init_auto_tune(const dynsel_options *options)
{
    enum { RESAMPLE_NS = 50000000 }; /* so that it does not only send work to one resource */
    return dynsel_auto_tune_init(&auto_tune, options, RESAMPLE_NS);
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_earliest_finish_policy earliest_finish;

static dynsel_status init_earliest_finish(const dynsel_options *options)
{
    return dynsel_earliest_finish_init(&earliest_finish, options);
}
#endif

const soak_policy soak_policies[] = {
    {"counting", &counting, init_counting},
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    {"round_robin", &round_robin.policy, init_round_robin},
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    {"dynamic_load", &dynamic_load.policy, init_dynamic_load},
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    {"auto_tune", &auto_tune.policy, init_auto_tune},
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    {"earliest_finish", &earliest_finish.policy, init_earliest_finish},
#endif
    {NULL, NULL, NULL},
};

size_t soak_policy_count(void)
{
    return sizeof soak_policies / sizeof soak_policies[0] - 1;
}

soak_reports soak_told(void)
{
    return (soak_reports){.submissions = atomic_load(&told_submissions),
                          .completions = atomic_load(&told_completions),
                          .times = atomic_load(&told_times)};
}

bool soak_loads_are_zero(void)
{
    bool zero = true;
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
        zero = zero && dynamic_load.loads[i].value == 0;
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
        zero = zero && auto_tune.loads[i].value == 0;
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
        zero = zero && earliest_finish.states[i].is.unfinished.value == 0;
#endif
    }
    return zero;
}
