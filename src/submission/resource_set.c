/* SPDX-License-Identifier: Apache-2.0 */
/* The program changes the set of resources of a policy in use. */
#include <dynsel/resource_set.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/resource_set.h"
#include "port/likely.h"
#include "port/pause.h"
#include "submission/evacuation.h"
#include "submission/pending_ops.h"
#include "submission/queue.h"
#include "submission/request.h"
#include "submission/resource_states.h"
#include "submission/slot_table.h"

/* Begins a change of the set; end_change() ends it. */
static dynsel_status begin_change(dynsel_policy *policy, const char *function)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, function);
    }
    if (!dynsel_policy_changes(policy)) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "the policy was initialized without may_change in its options", 0);
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(function, "what it waits for might wait for this function");
    }
    uint32_t nobody = 0;
    return dynsel_word_swap(&policy->changing, &nobody, 1)
               ? DYNSEL_OK
               : DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                                "another thread changes the resources of the policy", 0);
}

static dynsel_status end_change(dynsel_policy *policy, dynsel_status status)
{
    dynsel_word_store_release(&policy->changing, 0);
    return status;
}

static dynsel_status add(dynsel_policy *policy, const dynsel_resource *resource, size_t *index,
                         const char *function)
{
    const dynsel_options options = {.resources = resource, .count = 1};
    dynsel_new_set set;
    dynsel_status status = dynsel_set_find(policy, &options, function, &set);
    if (status != DYNSEL_OK) {
        return status;
    }
    const uint32_t place = set.places[0];
    if (place < set.before && !dynsel_health_is_removed(&policy->queues[place])) {
        dynsel_set_drop(&set);
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the policy has the resource already, at index {}", place);
    }
    status = dynsel_set_enter(policy, &set, function);
    if (status == DYNSEL_OK && index != NULL) {
        *index = place;
    }
    return status;
}

DYNSEL_RARE dynsel_status dynsel_policy_add_resource(dynsel_policy *policy,
                                                     const dynsel_resource *resource, size_t *index)
{
    const char *const function = DYNSEL_TEXT(__func__);
    const dynsel_status status = begin_change(policy, function);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (resource == NULL) {
        return end_change(policy, DYNSEL_FAIL(DYNSEL_E_INVALID, "the resource is NULL"));
    }
    return end_change(policy, add(policy, resource, index, function));
}

static bool is_last(const dynsel_policy *policy, size_t index)
{
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        if (i != index && !dynsel_health_is_removed(&policy->queues[i])) {
            return false;
        }
    }
    return true;
}

/* Lets no new work in. */
static dynsel_status begin_to_leave(dynsel_policy *policy, size_t index, const char *function)
{
    dynsel_resource_state state = DYNSEL_RESOURCE_IN_SERVICE;
    const dynsel_status status = dynsel_health_look(policy, index, function, &state);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (state == DYNSEL_RESOURCE_REMOVED) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_STALE, "the resource was removed already", 0);
    }
    if (is_last(policy, index)) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_NO_RESOURCE,
                              "it is the last resource of the policy: add another one before, or "
                              "end the policy",
                              0);
    }
    const uint32_t health = dynsel_health_of(&policy->queues[index]);
    if ((health & (DYNSEL_HEALTH_OUT | DYNSEL_HEALTH_DRAINING)) != 0) {
        return DYNSEL_OK;
    }
    const dynsel_status begun =
        dynsel_resource_take_out(policy, index, DYNSEL_HEALTH_DRAINING, function);
    return begun == DYNSEL_E_OUT_OF_SERVICE ? DYNSEL_OK : begun; /* another thread has done it */
}

/* Waits until no work holds the resource, and closes it. */
static dynsel_status close_when_free(dynsel_policy *policy, uint32_t index, uint64_t deadline_ns,
                                     const char *function)
{
    dynsel_queue *const queue = &policy->queues[index];
    for (uint32_t round = 0; !dynsel_occupancy_close(queue); round++) {
        dynsel_in_flight_reap();
        if (dynsel_occupancy_close(queue)) {
            break;
        }
        if (dynsel_deadline_passed(deadline_ns)) {
            return DYNSEL_FAIL_IN(function, DYNSEL_E_TIMEOUT,
                                  "{} pieces of work hold the resource, which drains: they are in "
                                  "flight, or were neither waited for nor released",
                                  dynsel_occupancy_of(queue));
        }
        dynsel_pause(round);
    }
    dynsel_queue_note_drained(policy, index);
    dynsel_queue_synchronize(queue, &policy->resources[index]);
    return DYNSEL_OK;
}

DYNSEL_RARE static dynsel_status evacuate(const dynsel_policy *policy, uint32_t index,
                                          uint64_t deadline_ns)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return dynsel_evacuation.evacuate(policy, index, deadline_ns);
#else
    (void)policy;
    (void)index;
    (void)deadline_ns;
    return DYNSEL_OK;
#endif
}

static dynsel_status remove_at(dynsel_policy *policy, size_t index, uint64_t deadline_ns,
                               const char *function)
{
    dynsel_status status = begin_to_leave(policy, index, function);
    if (status == DYNSEL_OK) {
        (void)dynsel_pending_progress(); /* what waits for the resource goes elsewhere */
        status = close_when_free(policy, (uint32_t)index, deadline_ns, function);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    status = evacuate(policy, (uint32_t)index, deadline_ns);
    if (status != DYNSEL_OK) {
        dynsel_occupancy_open(&policy->queues[index]);
        return status;
    }
    dynsel_set_remove(policy, (uint32_t)index);
    return DYNSEL_OK;
}

dynsel_status dynsel_policy_remove_resource(dynsel_policy *policy, size_t index,
                                            uint64_t timeout_ns)
{
    const char *const function = DYNSEL_TEXT(__func__);
    const dynsel_status status = begin_change(policy, function);
    return status == DYNSEL_OK
               ? end_change(policy,
                            remove_at(policy, index, dynsel_deadline_after(timeout_ns), function))
               : status;
}

/* Whether a resource of the set will be in service once it is entered. */
static bool serves(const dynsel_policy *policy, const dynsel_new_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t place = set->places[i];
        const uint32_t health = place < set->before ? dynsel_health_of(&policy->queues[place]) : 0;
        if ((health & DYNSEL_HEALTH_REMOVED) != 0 ||
            (health & (DYNSEL_HEALTH_OUT | DYNSEL_HEALTH_SUSPECT)) == 0) {
            return true;
        }
    }
    return false;
}

/* Removes the resources that are not in `kept`, and tells the first failure. */
static dynsel_status remove_others(dynsel_policy *policy, const dynsel_new_set *kept,
                                   uint64_t deadline_ns, const char *function)
{
    dynsel_status result = DYNSEL_OK;
    dynsel_error first = {.status = DYNSEL_OK};
    for (uint32_t i = 0; i < kept->before; i++) {
        if (dynsel_set_has(kept, i) || dynsel_health_is_removed(&policy->queues[i])) {
            continue;
        }
        const dynsel_status status = remove_at(policy, i, deadline_ns, function);
        if (status != DYNSEL_OK && result == DYNSEL_OK) {
            result = status;
            first = *dynsel_last_error();
        }
    }
    return first.status == DYNSEL_OK ? result : dynsel_fail(&first);
}

/* None of them gets more work, also while the removal waits for another one. */
static void drain_others(dynsel_policy *policy, const dynsel_new_set *kept, const char *function)
{
    for (uint32_t i = 0; i < kept->before; i++) {
        if (!dynsel_set_has(kept, i) && dynsel_health_in_service(&policy->queues[i])) {
            const dynsel_status status =
                dynsel_resource_take_out(policy, i, DYNSEL_HEALTH_DRAINING, function);
            (void)status; /* the removal tells it */
        }
    }
}

DYNSEL_RARE static dynsel_status set_resources(dynsel_policy *policy, const dynsel_options *options,
                                               uint64_t deadline_ns, const char *function)
{
    dynsel_new_set set;
    dynsel_status status = dynsel_set_find(policy, options, function, &set);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (!serves(policy, &set)) {
        dynsel_set_drop(&set);
        return DYNSEL_FAIL_IN(function, DYNSEL_E_NO_RESOURCE,
                              "no resource of the set is in service: reinstate one before", 0);
    }
    status = dynsel_set_enter(policy, &set, function);
    if (status != DYNSEL_OK) {
        return status;
    }
    drain_others(policy, &set, function);
    return remove_others(policy, &set, deadline_ns, function);
}

dynsel_status dynsel_policy_set_resources(dynsel_policy *policy, const dynsel_options *options,
                                          uint64_t timeout_ns)
{
    const char *const function = DYNSEL_TEXT(__func__);
    const dynsel_status status = begin_change(policy, function);
    return status == DYNSEL_OK
               ? end_change(policy, set_resources(policy, options,
                                                  dynsel_deadline_after(timeout_ns), function))
               : status;
}
