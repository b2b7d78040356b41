/* SPDX-License-Identifier: Apache-2.0 */
/* The table of resources of a policy, where all backends mark the end of their work, and inline is
 * the only built-in one. */
#include "policy/resource_table.h"

#if CONFIG_DYNSEL_BACKEND_INLINE
#include <dynsel/inline.h>
#endif

#include "base/fail.h"
#include "policy/device.h"
#include "policy/usable.h"

static bool can_report(const dynsel_policy *policy, const dynsel_backend *backend)
{
    return (policy->ops->needs & ~backend->ops->reports) == 0;
}

/* count: out; unchanged if the backend offers no resources. */
static dynsel_status take_defaults(dynsel_policy *policy, dynsel_backend *backend, size_t *count)
{
#if CONFIG_DYNSEL_BACKEND_INLINE
    backend = backend != NULL ? backend : &dynsel_inline_backend;
#endif
    return backend != NULL && backend->ops != NULL && backend->ops->get_default_resources != NULL &&
                   can_report(policy, backend)
               ? backend->ops->get_default_resources(backend, policy->resources,
                                                     CONFIG_DYNSEL_MAX_RESOURCES, count)
               : DYNSEL_OK;
}

static dynsel_status check_backend(const dynsel_policy *policy, uint32_t index)
{
    const dynsel_backend *backend = policy->resources[index].backend;
    if (backend == NULL || backend->ops == NULL || backend->ops->name == NULL ||
        backend->ops->start == NULL ||
        (backend->ops->outlives_submit && !backend->ops->marks_completion)) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                              "resource {} has no backend, or one that lacks operations, or that "
                              "does not tell every end with dynsel_complete()",
                              index);
    }
    return can_report(policy, backend)
               ? DYNSEL_OK
               : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_UNSUPPORTED,
                                "the backend of resource {} does not report what the policy needs",
                                index);
}

static dynsel_status attach(dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *backend = policy->resources[index].backend;
    return backend->ops->attach != NULL ? backend->ops->attach(backend, policy->queues[index].own)
                                        : DYNSEL_OK;
}

void dynsel_table_leave(dynsel_policy *policy, uint32_t count)
{
    while (count != 0) {
        count--;
        dynsel_backend *backend = policy->resources[count].backend;
        if (backend->ops->detach != NULL) {
            backend->ops->detach(backend, policy->queues[count].own);
        }
    }
}

static dynsel_status use(dynsel_policy *policy, uint32_t index, const dynsel_options *options,
                         bool *left_out)
{
    const bool given = options->count != 0;
    dynsel_status status = check_backend(policy, index);
    if (status == DYNSEL_OK) {
        status = dynsel_table_adapt(policy, index, options->adapt);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_table_admit(policy, index, given, left_out);
    }
    return status == DYNSEL_OK && !*left_out ? attach(policy, index) : status;
}

static dynsel_status fill(dynsel_policy *policy, const dynsel_options *options)
{
    size_t count = options->count;
    if (count != 0 ? options->resources == NULL : options->resources != NULL) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                              "options need both resources and count, or neither", 0);
    }
    if (count == 0) {
        const dynsel_status status = take_defaults(policy, options->backend, &count);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    if (count == 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_NO_RESOURCE,
                              "the default set is empty: no device was found", 0);
    }
    if (count > CONFIG_DYNSEL_MAX_RESOURCES) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_RESOURCES,
                          "and there are {} resources: set it to as many, or give fewer"),
            count);
    }
    if (options->resources != NULL) {
        (void)__builtin_memcpy(policy->resources, options->resources,
                               count * sizeof policy->resources[0]);
    }
    policy->count = (uint32_t)count;
    return DYNSEL_OK;
}

dynsel_status dynsel_table_fill(dynsel_policy *policy, const dynsel_options *options)
{
    static const dynsel_options defaults;
    options = options != NULL ? options : &defaults;
    dynsel_status status = fill(policy, options);
    for (uint32_t i = 0; i < policy->count;) {
        bool left_out = false;
        status = use(policy, i, options, &left_out);
        if (status != DYNSEL_OK) {
            policy->count = i;
            return status;
        }
        i += left_out ? 0 : 1;
    }
    return status;
}
