/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a policy and its table of resources. */
#include "core/policy.h"

#include "backends/default_backends.h"
#include "core/device.h"
#include "core/fail.h"
#include "core/in_flight.h"

static bool has_a_way(const dynsel_policy_ops *ops)
{
    return ops->try_select != NULL || ops->submit != NULL || ops->try_submit != NULL ||
           ops->submit_and_wait != NULL;
}

static bool has_own_ways(const dynsel_policy_ops *ops)
{
    return ops->try_select == NULL || ops->submit != NULL || ops->try_submit != NULL;
}

static dynsel_status check_new(const dynsel_policy *policy, const dynsel_policy_ops *ops)
{
    if (policy == NULL || ops == NULL || !has_a_way(ops) ||
        (ops->needs != 0 && ops->report == NULL)) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
            "the policy or its operations are NULL, or lack a way to submit, or report", 0);
    }
    if (policy->self == policy) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
            "the policy is initialized already: call dynsel_policy_deinit() first", 0);
    }
    if (policy->self != NULL || policy->count != 0) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
            "the policy is a copy or not zeroed: set it to zero before its first use", 0);
    }
    return DYNSEL_OK;
}

static bool can_report(const dynsel_backend_ops *ops, uint32_t needs)
{
    return (needs & ~ops->reports) == 0;
}

static dynsel_status add_defaults_of(dynsel_policy *policy, dynsel_backend *backend)
{
    const dynsel_backend_ops *ops = backend->ops;
    if (ops == NULL || ops->get_default_resources == NULL || !can_report(ops, policy->ops->needs)) {
        return DYNSEL_OK;
    }
    size_t found = 0;
    const size_t room = CONFIG_DYNSEL_MAX_RESOURCES - policy->count;
    const dynsel_status status =
        ops->get_default_resources(backend, &policy->resources[policy->count], room, &found);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (found > room) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_FULL,
            "there are {} default resources: raise CONFIG_DYNSEL_MAX_RESOURCES or choose some",
            policy->count + found);
    }
    policy->count += (uint32_t)found;
    return DYNSEL_OK;
}

static dynsel_status take_defaults(dynsel_policy *policy, dynsel_backend *only)
{
    dynsel_backend *const one[] = {only, NULL};
    dynsel_status status = DYNSEL_OK;
    for (dynsel_backend *const *b = only != NULL ? one : dynsel_default_backends; *b != NULL; b++) {
        status = add_defaults_of(policy, *b);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    if (policy->count == 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_NO_RESOURCE,
                              "the default set is empty: no device was found", 0);
    }
    return DYNSEL_OK;
}

static dynsel_status take_given(dynsel_policy *policy, const dynsel_options *options)
{
    if (options->resources == NULL || options->count == 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                              "options need both resources and count, or neither", 0);
    }
    if (options->count > CONFIG_DYNSEL_MAX_RESOURCES) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_FULL,
            "there are {} resources: raise CONFIG_DYNSEL_MAX_RESOURCES or give fewer",
            options->count);
    }
    for (size_t i = 0; i < options->count; i++) {
        policy->resources[i] = options->resources[i];
    }
    policy->count = (uint32_t)options->count;
    return DYNSEL_OK;
}

static bool ops_are_complete(const dynsel_backend_ops *ops)
{
    if (ops == NULL || ops->name == NULL || ops->start == NULL) {
        return false;
    }
    return !ops->outlives_submit || ops->marks_completion ||
           (ops->poll != NULL && ops->wait != NULL && ops->release != NULL);
}

/* Whether the policy can work with the resource's backend at all. */
static dynsel_status check_backend(const dynsel_policy *policy, uint32_t index)
{
    const dynsel_backend *backend = policy->resources[index].backend;
    if (backend == NULL || !ops_are_complete(backend->ops)) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                              "resource {} has no backend, or one that lacks operations", index);
    }
    if (backend->ops->outlives_submit && !CONFIG_DYNSEL_IN_FLIGHT) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_UNSUPPORTED,
                              "work on resource {} outlives a submit: set CONFIG_DYNSEL_IN_FLIGHT",
                              index);
    }
    if (!can_report(backend->ops, policy->ops->needs)) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_UNSUPPORTED,
                              "the backend of resource {} does not report what the policy needs",
                              index);
    }
    return DYNSEL_OK;
}

/* From the user's handle to the backend's own. */
static dynsel_status adapt_handle(dynsel_policy *policy, uint32_t index, void *(*adapt)(void *))
{
    void *own = policy->resources[index].handle;
    if (adapt != NULL) {
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        own = adapt(own);
        if (own == NULL) {
            return dynsel_this_thread()->failure_count != failures_before
                       ? dynsel_last_error()->status
                       : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                                        "adapt() refused the handle of resource {}", index);
        }
    }
    policy->lanes[index].own = own;
    return DYNSEL_OK;
}

static dynsel_status attach(dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *backend = policy->resources[index].backend;
    const dynsel_backend_ops *ops = backend->ops;
    policy->ways |= ops->outlives_submit ? DYNSEL_WAY_WITH_SLOTS : 0;
    policy->ways |= ops->only_calls ? 0 : DYNSEL_WAY_THROUGH_BACKENDS;
    return ops->attach != NULL ? ops->attach(backend, policy->lanes[index].own) : DYNSEL_OK;
}

static void detach(dynsel_policy *policy, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        dynsel_backend *backend = policy->resources[i].backend;
        if (backend->ops->detach != NULL) {
            backend->ops->detach(backend, policy->lanes[i].own);
        }
    }
}

#if CONFIG_DYNSEL_ASPECTS
/* Only the proof leaves a default resource out, and the others move up. left_out: out. */
static dynsel_status admit(dynsel_policy *policy, uint32_t index, bool given, bool *left_out)
{
    const dynsel_status status = dynsel_admit(policy, index);
    *left_out = status == DYNSEL_E_ASPECT && !given;
    if (!*left_out) {
        return status;
    }
    policy->refused++;
    policy->count--;
    for (uint32_t i = index; i < policy->count && i + 1 < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        policy->resources[i] = policy->resources[i + 1];
    }
    return policy->count != 0 ? DYNSEL_OK : status;
}
#else
static dynsel_status admit(dynsel_policy *policy, uint32_t index, bool given, bool *left_out)
{
    (void)policy;
    (void)index;
    (void)given;
    *left_out = false;
    return DYNSEL_OK;
}
#endif

/* given: by the user, so that each has to be attached. */
static dynsel_status attach_all(dynsel_policy *policy, void *(*adapt)(void *), bool given)
{
    for (uint32_t i = 0; i < policy->count;) {
        bool left_out = false;
        dynsel_status status = check_backend(policy, i);
        status = status == DYNSEL_OK ? adapt_handle(policy, i, adapt) : status;
        status = status == DYNSEL_OK ? admit(policy, i, given, &left_out) : status;
        status = status == DYNSEL_OK && !left_out ? attach(policy, i) : status;
        if (status != DYNSEL_OK) {
            detach(policy, i);
            return status;
        }
        i += left_out ? 0 : 1;
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_policy_init(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                 const dynsel_options *options)
{
    static const dynsel_options defaults;
    const dynsel_options *chosen = options != NULL ? options : &defaults;
    dynsel_status status = check_new(policy, ops);
    if (status != DYNSEL_OK) {
        return status;
    }
    policy->ops = ops;
    const bool given = chosen->resources != NULL || chosen->count != 0;
    status = given ? take_given(policy, chosen) : take_defaults(policy, chosen->backend);
    if (status == DYNSEL_OK) {
        status = attach_all(policy, chosen->adapt, given);
    }
    if (status != DYNSEL_OK) {
        *policy = (dynsel_policy){0};
        return status;
    }
    policy->ways |= has_own_ways(ops) ? DYNSEL_WAY_OF_ITS_OWN : 0;
    policy->self = policy;
    return DYNSEL_OK;
}

dynsel_status dynsel_policy_init_at(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                    const dynsel_options *options, size_t offset)
{
    const dynsel_status status = dynsel_policy_init(policy, ops, options);
    if (status != DYNSEL_OK || offset < policy->count) {
        return status;
    }
    const uint32_t count = policy->count;
    detach(policy, count);
    *policy = (dynsel_policy){0};
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                          "the offset is past the table: there are {} resources", count);
}

dynsel_status dynsel_policy_deinit(dynsel_policy *policy)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    const uint32_t out = dynsel_in_flight_retire(policy);
    if (out != 0) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_BUSY, "{} submissions are in flight or were neither waited for nor released",
            out);
    }
    detach(policy, policy->count);
    *policy = (dynsel_policy){0};
    return DYNSEL_OK;
}

const dynsel_resource *dynsel_get_resources(const dynsel_policy *policy, size_t *count)
{
    if (count == NULL) {
        (void)DYNSEL_FAIL(DYNSEL_E_INVALID, "count is NULL");
        return NULL;
    }
    *count = 0;
    if (!dynsel_policy_is_usable(policy)) {
        (void)dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
        return NULL;
    }
    *count = policy->count;
    return policy->resources;
}

#if CONFIG_DYNSEL_ASPECTS
size_t dynsel_refused_count(const dynsel_policy *policy)
{
    return dynsel_policy_is_usable(policy) ? policy->refused : 0;
}
#endif
