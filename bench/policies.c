/* SPDX-License-Identifier: Apache-2.0 */
#include "policies.h"

#include <dynsel/dynsel.h>

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
static dynsel_fixed_resource_policy fixed;

static dynsel_status init_fixed(const dynsel_options *options, size_t first)
{
    return dynsel_fixed_resource_init(&fixed, options, first);
}
#endif

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
static dynsel_round_robin_policy round_robin;

static dynsel_status init_round_robin(const dynsel_options *options, size_t first)
{
    return dynsel_round_robin_init(&round_robin, options, first);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static dynsel_dynamic_load_policy dynamic_load;

static dynsel_status init_dynamic_load(const dynsel_options *options, size_t first)
{
    (void)first;
    return dynsel_dynamic_load_init(&dynamic_load, options);
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static dynsel_auto_tune_policy auto_tune;

static dynsel_status init_auto_tune(const dynsel_options *options, size_t first)
{
    (void)first;
    return dynsel_auto_tune_init(&auto_tune, options, DYNSEL_NEVER_RESAMPLE);
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_earliest_finish_policy earliest_finish;

static dynsel_status init_earliest_finish(const dynsel_options *options, size_t first)
{
    (void)first;
    return dynsel_earliest_finish_init(&earliest_finish, options);
}
#endif

const bench_policy bench_policies[] = {
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    {"fixed_resource", FLOOR_NOTHING_SHARED, 0, &fixed.policy, init_fixed},
#endif
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    {"round_robin", FLOOR_ONE_COUNTER, 0, &round_robin.policy, init_round_robin},
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    {"dynamic_load", FLOOR_LOADS, 0, &dynamic_load.policy, init_dynamic_load},
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    {"auto_tune", FLOOR_SAMPLED_CLOCK, 0, &auto_tune.policy, init_auto_tune},
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    {"earliest_finish", FLOOR_QUEUES, 150, &earliest_finish.policy, init_earliest_finish},
#endif
    {NULL, FLOOR_NOTHING_SHARED, 0, NULL, NULL},
};
