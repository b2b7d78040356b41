/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/health.h"

#include <dynsel/backend.h>

#include "base/fail.h"

#if CONFIG_DYNSEL_LOSES_RESOURCES

void dynsel_health_retire(dynsel_policy *policy, uint32_t index)
{
    dynsel_word *health = &policy->queues[index].health;
    uint32_t seen = dynsel_word_load_relaxed(health);
    while ((seen & DYNSEL_HEALTH_OUT) == 0) {
        if (dynsel_word_swap(health, &seen, seen | DYNSEL_HEALTH_OUT)) {
            (void)dynsel_word_add_relaxed(&policy->impaired, 1);
            return;
        }
    }
}

#if CONFIG_DYNSEL_MAX_FAILURES > 0
static void note_failure(dynsel_policy *policy, uint32_t index)
{
    const uint32_t failures = dynsel_word_add_relaxed(&policy->queues[index].health, 1) + 1;
    if (failures >= CONFIG_DYNSEL_MAX_FAILURES) {
        dynsel_health_retire(policy, index);
    }
}
#else
static void note_failure(dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
}
#endif

static void note_success(dynsel_word *health)
{
    uint32_t seen = dynsel_word_load_relaxed(health);
    while (seen != 0 && (seen & DYNSEL_HEALTH_OUT) == 0 && !dynsel_word_swap(health, &seen, 0)) {
    }
}

void dynsel_health_note_change(dynsel_policy *policy, uint32_t index, dynsel_status status)
{
    if (status == DYNSEL_OK) {
        note_success(&policy->queues[index].health);
    } else if (status == DYNSEL_E_DEVICE) {
        note_failure(policy, index);
    }
}

#endif

#if CONFIG_DYNSEL_ERROR_TEXTS
dynsel_status dynsel_resource_refuse(const dynsel_policy *policy, uint32_t index)
{
    return dynsel_fail(&(dynsel_error){
        .status = DYNSEL_E_OUT_OF_SERVICE,
        .function = policy->ops->name,
        .subject = dynsel_resource_name(&policy->resources[index]),
        .detail = "its device was lost or failed too often: "
                  "dynsel_resource_reinstate() tries again",
    });
}
#endif

static dynsel_status check_index(const dynsel_policy *policy, size_t index, const char *function)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, function);
    }
    if (index >= policy->count) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the index is past the table: the policy has {} resources",
                              policy->count);
    }
    return DYNSEL_OK;
}

/* Its backend lost the device; the policy notices at the next refusal. */
static bool is_lost(const dynsel_policy *policy, size_t index)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    dynsel_backend *backend = policy->resources[index].backend;
    return backend->ops->is_lost != NULL &&
           backend->ops->is_lost(backend, policy->queues[index].own);
#else
    (void)policy;
    (void)index;
    return false;
#endif
}

dynsel_status dynsel_resource_in_service(const dynsel_policy *policy, size_t index)
{
    const dynsel_status status = check_index(policy, index, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
    if (!dynsel_health_in_service(&policy->queues[index]) || is_lost(policy, index)) {
        return dynsel_resource_refuse(policy, (uint32_t)index);
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_resource_reinstate(dynsel_policy *policy, size_t index)
{
    const dynsel_status status = check_index(policy, index, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
#if CONFIG_DYNSEL_LOSES_RESOURCES
    if ((dynsel_word_exchange(&policy->queues[index].health, 0) & DYNSEL_HEALTH_OUT) != 0) {
        (void)dynsel_word_add_relaxed(&policy->impaired, (uint32_t)-1);
    }
#endif
    return DYNSEL_OK;
}
