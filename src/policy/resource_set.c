/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a policy in use only grows, and a place in it is only ever that of one resource: so
 * who has read the count of places may read all of them, while another thread changes the set.
 */
#include "policy/resource_set.h"

#include "base/fail.h"
#include "policy/health.h"
#include "policy/policy.h"
#include "policy/resource_table.h"
#include "policy/traced.h"
#include "port/lock.h"

/* The resources of the set that is being found. */
static dynsel_policy scratch;
static dynsel_lock scratch_lock = DYNSEL_LOCK_INITIALIZER;

enum { NOWHERE = CONFIG_DYNSEL_MAX_RESOURCES };

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_sets_forget(void)
{
    dynsel_lock_renew(&scratch_lock);
}
#endif

/* Errors of the table name the function that fills it for an initialization. */
static dynsel_status fail_for(const char *function, dynsel_status status)
{
#if CONFIG_DYNSEL_ERROR_TEXTS
    static const char other[] = "dynsel_policy_init";
    dynsel_error error = *dynsel_last_error();
    if (error.status == status && error.function != NULL &&
        __builtin_strcmp(error.function, other) == 0) {
        error.function = function;
        return dynsel_fail(&error);
    }
#else
    (void)function;
#endif
    return status;
}

static bool is_taken(const dynsel_new_set *set, uint32_t count, uint32_t place)
{
    bool taken = false;
    for (uint32_t i = 0; i < count; i++) {
        taken = taken || set->places[i] == place;
    }
    return taken;
}

/* Where the policy has the resource that was found as number `i`; NOWHERE: it is new. */
static uint32_t place_of(const dynsel_policy *policy, const dynsel_new_set *set, uint32_t i)
{
    const dynsel_resource *const resource = &set->found->resources[i];
    for (uint32_t place = 0; place < set->before; place++) {
        if (policy->resources[place].backend == resource->backend &&
            policy->resources[place].handle == resource->handle &&
            policy->queues[place].own == set->found->queues[i].own && !is_taken(set, i, place)) {
            return place;
        }
    }
    return NOWHERE;
}

static void find_places(const dynsel_policy *policy, dynsel_new_set *set)
{
    set->count = set->found->count;
    set->before = policy->count;
    set->after = set->before;
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t place = place_of(policy, set, i);
        set->places[i] = place != NOWHERE ? place : set->after++;
    }
}

dynsel_status dynsel_set_find(dynsel_policy *policy, const dynsel_options *options,
                              const char *function, dynsel_new_set *set)
{
    dynsel_options wanted = options != NULL ? *options : (dynsel_options){.resources = NULL};
    wanted.adapt = wanted.adapt != NULL ? wanted.adapt : policy->adapt;
    dynsel_lock_acquire(&scratch_lock);
    set->found = &scratch;
    scratch = (dynsel_policy){.ops = policy->ops};
    const dynsel_status status = dynsel_table_fill(&scratch, &wanted);
    if (status != DYNSEL_OK) {
        dynsel_set_drop(set);
        return fail_for(function, status);
    }
    find_places(policy, set);
    return DYNSEL_OK;
}

void dynsel_set_drop(dynsel_new_set *set)
{
    dynsel_table_leave(set->found, set->found->count);
    dynsel_lock_release(&scratch_lock);
}

bool dynsel_set_has(const dynsel_new_set *set, uint32_t place)
{
    return is_taken(set, set->count, place);
}

/* Fills a place that nobody reads yet. */
static dynsel_status fill(dynsel_policy *policy, const dynsel_new_set *set, uint32_t i)
{
    const uint32_t place = set->places[i];
    policy->resources[place] = set->found->resources[i];
    policy->queues[place].own = set->found->queues[i].own;
#if CONFIG_DYNSEL_ASPECTS
    policy->aspects[place] = set->found->aspects[i];
#endif
    dynsel_word_store_relaxed(&policy->queues[place].health,
                              DYNSEL_HEALTH_OUT | DYNSEL_HEALTH_REMOVED);
    dynsel_word_store_relaxed(&policy->queues[place].users, DYNSEL_OCCUPANCY_CLOSED);
    return policy->ops->add_resource(policy, place);
}

static dynsel_status fill_all(dynsel_policy *policy, const dynsel_new_set *set,
                              const char *function)
{
    if (set->after > CONFIG_DYNSEL_MAX_RESOURCES) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                              DYNSEL_OPTION(MAX_RESOURCES,
                                            "and with these the policy has had {} different "
                                            "resources: set it to as many, or begin a policy anew"),
                              set->after);
    }
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; status == DYNSEL_OK && i < set->count; i++) {
        status = set->places[i] >= set->before ? fill(policy, set, i) : DYNSEL_OK;
    }
    return status;
}

/* Lets work in. */
static void open(dynsel_policy *policy, uint32_t place)
{
    uint32_t seen = dynsel_word_load_relaxed(&policy->queues[place].health);
#if CONFIG_DYNSEL_SHADOW_CHECK
    dynsel_word_store_relaxed(&policy->queues[place].mismatches, 0);
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_word_store_relaxed(&policy->queues[place].domain_asked, 0); /* as for another resource */
#endif
    dynsel_occupancy_open(&policy->queues[place]);
    while (!dynsel_health_change(policy, place, &seen, 0, DYNSEL_OK)) {
    }
    if (policy->ops->resource_added != NULL) {
        policy->ops->resource_added(policy, place);
    }
}

/* Back into service, if it drains. */
static void keep(dynsel_policy *policy, uint32_t place)
{
    uint32_t seen = dynsel_word_load_relaxed(&policy->queues[place].health);
    while ((seen & DYNSEL_HEALTH_DRAINING) != 0 && (seen & DYNSEL_HEALTH_OUT) == 0 &&
           !dynsel_health_change(policy, place, &seen, seen & ~(uint32_t)DYNSEL_HEALTH_DRAINING,
                                 DYNSEL_OK)) {
    }
}

dynsel_status dynsel_set_enter(dynsel_policy *policy, dynsel_new_set *set, const char *function)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_status status = fill_all(policy, set, function);
    if (status != DYNSEL_OK) {
        dynsel_set_drop(set);
        return dynsel_this_thread()->failure_count != failures_before
                   ? status
                   : DYNSEL_FAIL_IN(function, status, "the policy refuses the resource", 0);
    }
    (void)dynsel_word_add_relaxed(&policy->impaired, set->after - set->before);
    dynsel_number_store_release(&policy->count, set->after);
    for (uint32_t place = set->before; place < set->after; place++) {
        dynsel_traced_resource(policy, place);
    }
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t place = set->places[i];
        if (dynsel_health_is_removed(&policy->queues[place])) {
            open(policy, place);
        } else {
            dynsel_table_detach(set->found, i); /* the policy has attached it before */
            keep(policy, place);
        }
    }
    dynsel_lock_release(&scratch_lock);
    return DYNSEL_OK;
}

void dynsel_set_remove(dynsel_policy *policy, uint32_t index)
{
    uint32_t seen = dynsel_word_load_relaxed(&policy->queues[index].health);
    while (!dynsel_health_change(policy, index, &seen, DYNSEL_HEALTH_OUT | DYNSEL_HEALTH_REMOVED,
                                 DYNSEL_OK)) {
    }
    if (policy->ops->resource_removed != NULL) {
        policy->ops->resource_removed(policy, index);
    }
    dynsel_table_detach(policy, index);
}
