/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/health.h"

#include <dynsel/backend.h>

#include "base/fail.h"
#include "policy/traced.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_RESOURCE_STATES

enum {
    MARK = 0x80,
    NUMBER_SHIFT = 16 - 1 /* from the word to selection.claims, above its bit 0 */
};

static dynsel_resource_state state_of(uint32_t health)
{
    if ((health & DYNSEL_HEALTH_OUT) != 0) {
        return (health & DYNSEL_HEALTH_REMOVED) != 0 ? DYNSEL_RESOURCE_REMOVED
                                                     : DYNSEL_RESOURCE_OUT_OF_SERVICE;
    }
    if ((health & DYNSEL_HEALTH_SUSPECT) != 0) {
        return DYNSEL_RESOURCE_SUSPECT;
    }
    if ((health & DYNSEL_HEALTH_DRAINING) != 0) {
        return DYNSEL_RESOURCE_DRAINING;
    }
    return (health & DYNSEL_HEALTH_PROBATION) != 0 ? DYNSEL_RESOURCE_ON_PROBATION
                                                   : DYNSEL_RESOURCE_IN_SERVICE;
}

static uint8_t mark_of(uint32_t health)
{
    return (uint8_t)(MARK | (health & DYNSEL_HEALTH_NUMBER) >> NUMBER_SHIFT);
}

/* Whether the work was started in this probation. Work in the caller has no mark. */
static bool is_of_probation(const dynsel_policy *policy, const dynsel_selection *chosen,
                            uint32_t health)
{
    return (chosen->claims & MARK) == 0
               ? !policy->resources[chosen->index].backend->ops->outlives_submit
               : (chosen->claims & ~1u) == mark_of(health);
}

bool dynsel_health_change(dynsel_policy *policy, uint32_t index, uint32_t *seen, uint32_t wanted,
                          dynsel_status cause)
{
    const dynsel_resource_state before = state_of(*seen);
    const dynsel_resource_state after = state_of(wanted);
    if (!dynsel_word_swap(&policy->queues[index].health, seen, wanted)) {
        return false;
    }
#if CONFIG_DYNSEL_RESOURCE_SETS
    if (before != after) {
        (void)dynsel_word_add_synchronized(&policy->state_changes, 1);
    }
#endif
    const bool is_impaired = after != DYNSEL_RESOURCE_IN_SERVICE;
    if (is_impaired != (before != DYNSEL_RESOURCE_IN_SERVICE)) {
        (void)dynsel_word_add_relaxed(&policy->impaired, is_impaired ? 1 : (uint32_t)-1);
    }
    if (before != after) {
        dynsel_traced_health(policy, index, before, after, cause);
    }
    if (before != after && policy->resource_changed != NULL) {
        policy->resource_changed(&(const dynsel_resource_change){
            .policy = policy, .index = index, .before = before, .after = after, .cause = cause});
    }
    return true;
}

dynsel_status dynsel_health_enter_impaired(dynsel_policy *policy, dynsel_selection *chosen)
{
    dynsel_word *const health = &policy->queues[chosen->index].health;
    uint32_t seen = dynsel_word_load_relaxed(health);
    do {
        if ((seen & DYNSEL_HEALTH_LEAVES) != 0) {
            return dynsel_resource_refuse(policy, chosen->index);
        }
        if ((seen & DYNSEL_HEALTH_PROBATION) == 0) {
            return DYNSEL_OK;
        }
        if ((seen & DYNSEL_HEALTH_TAKEN) != 0) {
            return DYNSEL_E_AGAIN;
        }
    } while (!dynsel_word_swap(health, &seen, seen | DYNSEL_HEALTH_TAKEN));
    chosen->claims = (uint8_t)((chosen->claims & 1u) | mark_of(seen));
    return DYNSEL_OK;
}

/* The health after work of the probation ended. */
static uint32_t after_trial(uint32_t health, dynsel_status status)
{
    const uint32_t left = health & DYNSEL_HEALTH_COUNT;
    if ((health & DYNSEL_HEALTH_LEAVES) == 0) {
        if (status == DYNSEL_E_DEVICE && CONFIG_DYNSEL_MAX_FAILURES > 0) {
            return DYNSEL_HEALTH_OUT;
        }
        if (status == DYNSEL_OK && left <= 1) {
            return 0;
        }
    }
    return (health & ~(uint32_t)DYNSEL_HEALTH_TAKEN) - (status == DYNSEL_OK && left > 1 ? 1 : 0);
}

bool dynsel_health_note_trial(dynsel_policy *policy, const dynsel_selection *chosen,
                              dynsel_status status)
{
    uint32_t seen = dynsel_word_load_relaxed(&policy->queues[chosen->index].health);
    while ((seen & DYNSEL_HEALTH_PROBATION) != 0) {
        if (!is_of_probation(policy, chosen, seen) ||
            dynsel_health_change(policy, chosen->index, &seen, after_trial(seen, status),
                                 status == DYNSEL_OK ? DYNSEL_OK : DYNSEL_E_DEVICE)) {
            return true;
        }
    }
    return false;
}

void dynsel_health_retire(dynsel_policy *policy, uint32_t index, dynsel_status cause)
{
    uint32_t seen = dynsel_word_load_relaxed(&policy->queues[index].health);
    while ((seen & DYNSEL_HEALTH_OUT) == 0) {
        if (dynsel_health_change(policy, index, &seen, DYNSEL_HEALTH_OUT, cause)) {
            return;
        }
    }
}

void dynsel_health_leave(dynsel_policy *policy, const dynsel_selection *chosen)
{
    if ((chosen->claims & MARK) != 0) {
        (void)dynsel_health_note_trial(policy, chosen, DYNSEL_E_AGAIN);
    }
}

#elif CONFIG_DYNSEL_LOSES_RESOURCES

void dynsel_health_take_out(dynsel_policy *policy, uint32_t index)
{
    dynsel_word *health = &policy->queues[index].health;
    uint32_t seen = dynsel_word_load_relaxed(health);
    while ((seen & DYNSEL_HEALTH_OUT) == 0) {
        if (dynsel_word_swap(health, &seen, seen | DYNSEL_HEALTH_OUT)) {
            dynsel_traced_out(policy, index);
            (void)dynsel_word_add_relaxed(&policy->impaired, 1);
            return;
        }
    }
}

#endif

#if CONFIG_DYNSEL_LOSES_RESOURCES

/* Whether the health is a number of failures alone. */
static bool is_in_service(uint32_t health)
{
    return (health & (CONFIG_DYNSEL_RESOURCE_STATES ? ~(uint32_t)DYNSEL_HEALTH_COUNT
                                                    : (uint32_t)DYNSEL_HEALTH_LEAVES)) == 0;
}

#if CONFIG_DYNSEL_MAX_FAILURES > 0 && CONFIG_DYNSEL_RESOURCE_STATES
/* Once the state has changed, the work says nothing any more. */
static void note_failure(dynsel_policy *policy, uint32_t index)
{
    uint32_t seen = dynsel_health_of(&policy->queues[index]);
    while (is_in_service(seen)) {
        const uint32_t wanted =
            seen + 1 >= CONFIG_DYNSEL_MAX_FAILURES ? (uint32_t)DYNSEL_HEALTH_OUT : seen + 1;
        if (dynsel_health_change(policy, index, &seen, wanted, DYNSEL_E_DEVICE)) {
            return;
        }
    }
}
#elif CONFIG_DYNSEL_MAX_FAILURES > 0
static void note_failure(dynsel_policy *policy, uint32_t index)
{
    const uint32_t failures = dynsel_word_add_relaxed(&policy->queues[index].health, 1) + 1;
    if (failures >= CONFIG_DYNSEL_MAX_FAILURES) {
        dynsel_health_take_out(policy, index);
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
    while (seen != 0 && is_in_service(seen) && !dynsel_word_swap(health, &seen, 0)) {
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

#if CONFIG_DYNSEL_SHADOW_CHECK
void dynsel_health_doubt(dynsel_policy *policy, uint32_t index)
{
    (void)dynsel_word_add_relaxed(&policy->queues[index].mismatches, 1);
}

void dynsel_health_decide(dynsel_policy *policy, uint32_t index, bool wrong)
{
    dynsel_word *const mismatches = &policy->queues[index].mismatches;
    if (!wrong) {
        /* a return to service may have set it to 0 meanwhile */
        (void)dynsel_word_subtract(mismatches, 1);
    } else if (dynsel_word_load_relaxed(mismatches) >= CONFIG_DYNSEL_MAX_MISMATCHES) {
        dynsel_health_retire(policy, index, DYNSEL_E_DEVICE);
    }
}
#endif

#if CONFIG_DYNSEL_ERROR_TEXTS
static const char *why_out(uint32_t health)
{
    if (CONFIG_DYNSEL_RESOURCE_SETS && (health & DYNSEL_HEALTH_REMOVED) != 0) {
        return "it was removed from the policy: dynsel_policy_add_resource() brings it back";
    }
    if (!CONFIG_DYNSEL_RESOURCE_STATES || (health & DYNSEL_HEALTH_OUT) != 0) {
        return "its device was lost, given up, or failed too often, or the program retired it: "
               "dynsel_resource_reinstate() tries again";
    }
    return (health & DYNSEL_HEALTH_SUSPECT) != 0
               ? "its work exceeds a time limit: it gets work again when that has ended"
               : "it drains: dynsel_resource_reinstate() gives it work again";
}

dynsel_status dynsel_resource_refuse(const dynsel_policy *policy, uint32_t index)
{
    return dynsel_fail(&(dynsel_error){
        .status = DYNSEL_E_OUT_OF_SERVICE,
        .function = policy->ops->name,
        .subject = dynsel_resource_name(&policy->resources[index]),
        .detail = why_out(dynsel_health_of(&policy->queues[index])),
    });
}
#endif

static dynsel_status check_index(const dynsel_policy *policy, size_t index, const char *function)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, function);
    }
    if (index >= dynsel_policy_count(policy)) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the index is past the table: the policy has {} resources",
                              dynsel_policy_count(policy));
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

#if CONFIG_DYNSEL_LOSES_RESOURCES
/* Before it is in service again: work that was checked later may take it out at once. */
static void forget_mismatches(dynsel_policy *policy, uint32_t index)
{
#if CONFIG_DYNSEL_SHADOW_CHECK
    dynsel_word_store_relaxed(&policy->queues[index].mismatches, 0);
#else
    (void)policy;
    (void)index;
#endif
}
#endif

#if CONFIG_DYNSEL_RESOURCE_STATES

dynsel_status dynsel_health_look(const dynsel_policy *policy, size_t index, const char *function,
                                 dynsel_resource_state *state)
{
    const dynsel_status status = check_index(policy, index, function);
    if (status == DYNSEL_OK) {
        const dynsel_resource_state seen = state_of(dynsel_health_of(&policy->queues[index]));
        *state =
            seen != DYNSEL_RESOURCE_REMOVED && is_lost(policy, index) ? DYNSEL_RESOURCE_LOST : seen;
    }
    return status;
}

/* The health of a resource that begins to prove itself. */
static uint32_t new_probation(dynsel_policy *policy)
{
    const uint32_t number = dynsel_word_add_relaxed(&policy->probations, 1) + 1;
    return CONFIG_DYNSEL_PROBATION_SUCCESSES == 0
               ? 0
               : DYNSEL_HEALTH_PROBATION | (number << 16 & DYNSEL_HEALTH_NUMBER) |
                     CONFIG_DYNSEL_PROBATION_SUCCESSES;
}

#if CONFIG_DYNSEL_TIME_LIMITS
void dynsel_health_suspect(dynsel_policy *policy, uint32_t index)
{
    uint32_t seen = dynsel_health_of(&policy->queues[index]);
    while ((seen & (DYNSEL_HEALTH_OUT | DYNSEL_HEALTH_SUSPECT)) == 0) {
        if (dynsel_health_change(policy, index, &seen, seen | DYNSEL_HEALTH_SUSPECT,
                                 DYNSEL_E_TIMEOUT)) {
            return;
        }
    }
}

void dynsel_health_recover(dynsel_policy *policy, uint32_t index)
{
    uint32_t seen = dynsel_health_of(&policy->queues[index]);
    while ((seen & DYNSEL_HEALTH_SUSPECT) != 0) {
        const uint32_t wanted = (seen & DYNSEL_HEALTH_DRAINING) != 0
                                    ? seen & ~(uint32_t)DYNSEL_HEALTH_SUSPECT
                                    : new_probation(policy);
        if (dynsel_health_change(policy, index, &seen, wanted, DYNSEL_OK)) {
            return;
        }
    }
}
#endif

/* False: it was in service. */
static bool reinstate(dynsel_policy *policy, uint32_t index)
{
    const uint32_t wanted = new_probation(policy);
    uint32_t seen = dynsel_word_load_relaxed(&policy->queues[index].health);
    while ((seen & DYNSEL_HEALTH_LEAVES) != 0 && (seen & DYNSEL_HEALTH_REMOVED) == 0) {
        forget_mismatches(policy, index);
        if (dynsel_health_change(policy, index, &seen, wanted, DYNSEL_OK)) {
            return true;
        }
    }
    return false;
}

#elif CONFIG_DYNSEL_LOSES_RESOURCES

static bool reinstate(dynsel_policy *policy, uint32_t index)
{
    dynsel_word *const health = &policy->queues[index].health;
    if ((dynsel_word_load_relaxed(health) & DYNSEL_HEALTH_OUT) == 0) {
        return false;
    }
    forget_mismatches(policy, index);
    if ((dynsel_word_exchange(health, 0) & DYNSEL_HEALTH_OUT) == 0) {
        return false; /* another call has done it */
    }
    (void)dynsel_word_add_relaxed(&policy->impaired, (uint32_t)-1);
    return true;
}

#else

static bool reinstate(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
    return false;
}

#endif

DYNSEL_RARE dynsel_status dynsel_resource_reinstate(dynsel_policy *policy, size_t index)
{
    const dynsel_status status = check_index(policy, index, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
    if (dynsel_health_is_removed(&policy->queues[index])) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "the resource was removed: dynsel_policy_add_resource() brings it back");
    }
    return reinstate(policy, (uint32_t)index) || is_lost(policy, index)
               ? DYNSEL_OK
               : DYNSEL_FAIL(DYNSEL_E_INVALID, "the resource is in service");
}
