/* SPDX-License-Identifier: Apache-2.0 */
/* The program takes resources out of service. */
#include <dynsel/resource_states.h>

#include "base/fail.h"
#include "policy/after_fork.h"
#include "policy/policy.h"
#include "policy/resource_set.h"
#include "port/likely.h"
#include "port/spinlock.h"
#include "submission/pending_ops.h"
#include "submission/queue.h"
#include "submission/request.h"
#include "submission/resource_states.h"

const char *dynsel_resource_state_text(dynsel_resource_state state)
{
#if CONFIG_DYNSEL_STATUS_NAMES
    switch (state) {
#define DYNSEL_RESOURCE_STATE_CASE(name, text)                                                     \
    case name:                                                                                     \
        return text;
        DYNSEL_RESOURCE_STATE_LIST(DYNSEL_RESOURCE_STATE_CASE)
#undef DYNSEL_RESOURCE_STATE_CASE
    default:
        return "unknown state";
    }
#else
    (void)state;
    return "";
#endif
}

dynsel_status dynsel_resource_get_state(dynsel_policy *policy, size_t index,
                                        dynsel_resource_state *state)
{
    dynsel_resource_state seen = DYNSEL_RESOURCE_IN_SERVICE;
    const dynsel_status status = dynsel_health_look(policy, index, DYNSEL_TEXT(__func__), &seen);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (state == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "state is NULL");
    }
    if (seen == DYNSEL_RESOURCE_DRAINING || dynsel_limits_exist()) {
        dynsel_queue_reap(&policy->queues[index], NULL);
        dynsel_queue_note_drained(policy, (uint32_t)index);
        return dynsel_health_look(policy, index, DYNSEL_TEXT(__func__), state);
    }
    *state = seen;
    return DYNSEL_OK;
}

/* Two threads must not both leave the other's resource as the last one. */
static dynsel_spinlock lock;

#if CONFIG_DYNSEL_CONTEXT_THREADS && CONFIG_DYNSEL_IN_FLIGHT
/* In the child of a fork(). */
static void forget(void)
{
    dynsel_spinlock_release(&lock);
#if CONFIG_DYNSEL_RESOURCE_SETS
    dynsel_sets_forget();
#endif
}

void (*const dynsel_fork_states)(void) = forget;
#endif

static bool another_is_in_service(const dynsel_policy *policy, size_t index)
{
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        if (i != index && dynsel_health_in_service(&policy->queues[i])) {
            return true;
        }
    }
    return false;
}

/* Under the lock. */
static dynsel_status take_out(dynsel_policy *policy, size_t index, uint32_t wanted,
                              const char *function)
{
    uint32_t seen = dynsel_health_of(&policy->queues[index]);
    do {
        if ((seen & DYNSEL_HEALTH_OUT) != 0 || (seen & wanted) != 0) {
            return DYNSEL_FAIL_IN(function, DYNSEL_E_OUT_OF_SERVICE,
                                  (seen & DYNSEL_HEALTH_OUT) != 0
                                      ? "the resource is out of service already"
                                      : "the resource drains already: dynsel_resource_retire() "
                                        "takes it out of service at once",
                                  0);
        }
        if ((seen & DYNSEL_HEALTH_LEAVES) == 0 && !another_is_in_service(policy, index)) {
            return DYNSEL_FAIL_IN(function, DYNSEL_E_NO_RESOURCE,
                                  "it is the last resource of the policy in service: reinstate "
                                  "another one before, or end the policy",
                                  0);
        }
    } while (!dynsel_health_change(policy, (uint32_t)index, &seen,
                                   wanted == DYNSEL_HEALTH_OUT ? wanted : seen | wanted,
                                   DYNSEL_OK));
    return DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_resource_take_out(dynsel_policy *policy, size_t index,
                                                   uint32_t wanted, const char *function)
{
    dynsel_spinlock_acquire(&lock);
    const dynsel_status status = take_out(policy, index, wanted, function);
    dynsel_spinlock_release(&lock);
    return status;
}

static dynsel_status take_out_checked(dynsel_policy *policy, size_t index, uint32_t wanted,
                                      const char *function)
{
    dynsel_resource_state state = DYNSEL_RESOURCE_IN_SERVICE;
    const dynsel_status status = dynsel_health_look(policy, index, function, &state);
    return status == DYNSEL_OK ? dynsel_resource_take_out(policy, index, wanted, function) : status;
}

dynsel_status dynsel_resource_drain(dynsel_policy *policy, size_t index)
{
    const dynsel_status status =
        take_out_checked(policy, index, DYNSEL_HEALTH_DRAINING, DYNSEL_TEXT(__func__));
    if (status == DYNSEL_OK) {
        dynsel_queue_note_drained(policy, (uint32_t)index);
    }
    return status;
}

dynsel_status dynsel_resource_retire(dynsel_policy *policy, size_t index)
{
    return take_out_checked(policy, index, DYNSEL_HEALTH_OUT, DYNSEL_TEXT(__func__));
}

#if CONFIG_DYNSEL_TIME_LIMITS
DYNSEL_RARE dynsel_status dynsel_resource_give_up(dynsel_policy *policy, size_t index)
{
    const char *const function = DYNSEL_TEXT(__func__);
    dynsel_resource_state state = DYNSEL_RESOURCE_IN_SERVICE;
    const dynsel_status status = dynsel_health_look(policy, index, function, &state);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(function, "the work might be that of this function");
    }
    if (dynsel_health_is_removed(&policy->queues[index])) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_OUT_OF_SERVICE, "the resource was removed", 0);
    }
    if (!dynsel_queue_give_up(policy, (uint32_t)index)) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "its backend has no `give_up`: retire the resource", 0);
    }
    (void)dynsel_pending_progress();
    return DYNSEL_OK;
}
#endif
