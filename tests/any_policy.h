/* SPDX-License-Identifier: Apache-2.0 */
/* Room for any one policy of the build, and a list of them all. */
#ifndef TESTS_ANY_POLICY_H
#define TESTS_ANY_POLICY_H

#include <dynsel/dynsel.h>

typedef union any_policy {
    dynsel_policy policy;
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    dynsel_fixed_resource_policy fixed_resource;
#endif
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    dynsel_round_robin_policy round_robin;
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    dynsel_dynamic_load_policy dynamic_load;
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    dynsel_auto_tune_policy auto_tune;
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    dynsel_earliest_finish_policy earliest_finish;
#endif
} any_policy;

typedef struct any_kind {
    /* any: NULL for "no policy at all". offset: for those that have one. */
    dynsel_status (*init)(any_policy *any, const dynsel_options *options, size_t offset);
    bool has_offset;
    unsigned needs; /* as the seed's table says */
} any_kind;

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
static dynsel_status any_fixed_resource(any_policy *any, const dynsel_options *options,
                                        size_t offset)
{
    return dynsel_fixed_resource_init(any != NULL ? &any->fixed_resource : NULL, options, offset);
}
#endif

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
static dynsel_status any_round_robin(any_policy *any, const dynsel_options *options, size_t offset)
{
    return dynsel_round_robin_init(any != NULL ? &any->round_robin : NULL, options, offset);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static dynsel_status any_dynamic_load(any_policy *any, const dynsel_options *options, size_t offset)
{
    (void)offset;
    return dynsel_dynamic_load_init(any != NULL ? &any->dynamic_load : NULL, options);
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static dynsel_status any_auto_tune(any_policy *any, const dynsel_options *options, size_t offset)
{
    (void)offset;
    return dynsel_auto_tune_init(any != NULL ? &any->auto_tune : NULL, options,
                                 DYNSEL_NEVER_RESAMPLE);
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_status any_earliest_finish(any_policy *any, const dynsel_options *options,
                                         size_t offset)
{
    (void)offset;
    return dynsel_earliest_finish_init(any != NULL ? &any->earliest_finish : NULL, options);
}
#endif

/* Ends with an entry without `init`. */
static const any_kind any_kinds[] = {
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    {any_fixed_resource, true, 0},
#endif
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    {any_round_robin, true, 0},
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    {any_dynamic_load, false, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION},
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    {any_auto_tune, false, DYNSEL_TASK_TIME},
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    {any_earliest_finish, false,
     DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME},
#endif
    {NULL, false, 0},
};

#endif
