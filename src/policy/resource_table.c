/* SPDX-License-Identifier: Apache-2.0 */
/* The table of resources of a policy, of any backends. */
#include "policy/resource_table.h"

#include "base/fail.h"
#include "policy/default_backends.h"
#include "policy/device.h"
#include "policy/health.h"
#include "policy/usable.h"

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
            DYNSEL_OPTION(MAX_RESOURCES,
                          "and there are {} default resources: set it to as many, or choose some"),
            policy->count + found);
    }
    policy->count += (uint32_t)found;
    return DYNSEL_OK;
}

/* without_caller: excludes backends that only call the task function. */
static dynsel_status take_defaults(dynsel_policy *policy, dynsel_backend *const *backends,
                                   bool without_caller)
{
    dynsel_status none = DYNSEL_OK; /* of a backend that has no resources */
    for (dynsel_backend *const *b = backends; *b != NULL; b++) {
        if (without_caller && (*b)->ops->only_calls) {
            continue;
        }
        const dynsel_status status = add_defaults_of(policy, *b);
        if (status != DYNSEL_OK && status != DYNSEL_E_NO_RESOURCE) {
            return status;
        }
        none = status != DYNSEL_OK ? status : none;
    }
    if (policy->count == 0 && none != DYNSEL_OK) {
        return none;
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
            DYNSEL_OPTION(MAX_RESOURCES,
                          "and there are {} resources: set it to as many, or give fewer"),
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

static dynsel_status attach(dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *backend = policy->resources[index].backend;
    const dynsel_backend_ops *ops = backend->ops;
    const dynsel_status status =
        ops->attach != NULL ? ops->attach(backend, policy->queues[index].own) : DYNSEL_OK;
    if (status == DYNSEL_OK) {
        policy->submit_flags |= ops->outlives_submit ? DYNSEL_SUBMIT_WITH_SLOTS : 0;
        policy->submit_flags |= ops->only_calls ? 0 : DYNSEL_SUBMIT_THROUGH_BACKENDS;
    }
    return status;
}

/* Excludes a default resource that its backend cannot use. If none is left, returns the failure. */
static dynsel_status attach_or_leave_out(dynsel_policy *policy, uint32_t index, bool given,
                                         bool *left_out)
{
    const dynsel_status status = attach(policy, index);
    if (status != DYNSEL_E_UNSUPPORTED || given) {
        return status;
    }
    dynsel_table_leave_out(policy, index);
    *left_out = true;
    return policy->count != 0 ? DYNSEL_OK : status;
}

void dynsel_table_detach(dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *backend = policy->resources[index].backend;
    if (backend->ops->detach != NULL) {
        backend->ops->detach(backend, policy->queues[index].own);
    }
}

void dynsel_table_leave(dynsel_policy *policy, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!dynsel_health_is_removed(&policy->queues[i])) {
            dynsel_table_detach(policy, i);
        }
    }
}

/* given: by the user, so that no resource is excluded. */
DYNSEL_RARE static dynsel_status attach_all(dynsel_policy *policy, void *(*adapt)(void *),
                                            bool given)
{
    for (uint32_t i = 0; i < policy->count;) {
        bool left_out = false;
        dynsel_status status = check_backend(policy, i);
        status = status == DYNSEL_OK ? dynsel_table_adapt(policy, i, adapt) : status;
        status = status == DYNSEL_OK ? dynsel_table_admit(policy, i, given, &left_out) : status;
        if (status == DYNSEL_OK && !left_out) {
            status = attach_or_leave_out(policy, i, given, &left_out);
        }
        if (status != DYNSEL_OK) {
            policy->count = i;
            return status;
        }
        i += left_out ? 0 : 1;
    }
    return DYNSEL_OK;
}

static dynsel_status fill_from(dynsel_policy *policy, const dynsel_options *options,
                               dynsel_backend *const *backends, bool without_caller)
{
    const dynsel_status status = take_defaults(policy, backends, without_caller);
    if (status != DYNSEL_OK) {
        policy->count = 0; /* none of them was attached */
        return status;
    }
    return attach_all(policy, options->adapt, false);
}

#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL || CONFIG_DYNSEL_BACKEND_MPI

/* Fills the table with the default resources that do not block the caller. DYNSEL_E_NO_RESOURCE:
 * there are none, or all were excluded. */
static dynsel_status fill_without_caller(dynsel_policy *policy, const dynsel_options *options)
{
    const dynsel_status status = fill_from(policy, options, dynsel_default_backends, true);
    const bool are_left_out = status == DYNSEL_E_ASPECT || status == DYNSEL_E_UNSUPPORTED;
    if (!are_left_out || policy->count != 0) {
        return status;
    }
#if CONFIG_DYNSEL_ASPECTS
    policy->refused = 0; /* they will be refused again */
#endif
    return DYNSEL_E_NO_RESOURCE;
}

static dynsel_status fill_with_set(dynsel_policy *policy, const dynsel_options *options)
{
    if (options->defaults == DYNSEL_WORKERS_AND_DEVICES) {
        return fill_from(policy, options, dynsel_backends_beside_caller, false);
    }
    if (options->defaults == DYNSEL_POLICYS_OWN_SET && policy->ops->leaves_out_caller) {
        const dynsel_status status = fill_without_caller(policy, options);
        if (status != DYNSEL_E_NO_RESOURCE) {
            return status;
        }
    }
    return fill_from(policy, options, dynsel_default_backends, false);
}

static dynsel_status check_set(const dynsel_options *options, bool given)
{
    const bool may_choose = !given && options->backend == NULL;
    if (options->defaults != DYNSEL_POLICYS_OWN_SET &&
        (!may_choose || (uint32_t)options->defaults > DYNSEL_WORKERS_AND_DEVICES)) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                              may_choose
                                  ? "options.defaults is none of dynsel_default_set"
                                  : "options.defaults is for options without resources and backend",
                              0);
    }
    return DYNSEL_OK;
}

#else

static dynsel_status fill_with_set(dynsel_policy *policy, const dynsel_options *options)
{
    return fill_from(policy, options, dynsel_default_backends, false);
}

static dynsel_status check_set(const dynsel_options *options, bool given)
{
    (void)options;
    (void)given;
    return DYNSEL_OK;
}

#endif

DYNSEL_RARE dynsel_status dynsel_table_fill(dynsel_policy *policy, const dynsel_options *options)
{
    static const dynsel_options nothing_said;
    options = options != NULL ? options : &nothing_said;
    const bool given = options->resources != NULL || options->count != 0;
    dynsel_status status = check_set(options, given);
    if (status == DYNSEL_OK && given) {
        status = take_given(policy, options);
        return status == DYNSEL_OK ? attach_all(policy, options->adapt, true) : status;
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    if (options->backend != NULL) {
        return fill_from(policy, options, (dynsel_backend *[]){options->backend, NULL}, false);
    }
    return fill_with_set(policy, options);
}
