/* SPDX-License-Identifier: Apache-2.0 */
/* The table of resources of a policy, where backend inline is the only one. */
#include <dynsel/inline.h>

#include "policy/resource_table.h"

static dynsel_status take_default(dynsel_policy *policy, const dynsel_options *options)
{
    if (options != NULL && options->backend != NULL && options->backend != &dynsel_inline_backend) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_NO_RESOURCE,
                              "the default set is empty: this build has backend inline only", 0);
    }
    policy->resources[0].backend = &dynsel_inline_backend;
    policy->count = 1;
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
    for (; policy->count < options->count; policy->count++) {
        if (options->resources[policy->count].backend != &dynsel_inline_backend) {
            return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                                  "resource {} is not of backend inline: set "
                                  "CONFIG_DYNSEL_CUSTOM_BACKENDS",
                                  policy->count);
        }
        policy->resources[policy->count] = options->resources[policy->count];
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_table_fill(dynsel_policy *policy, const dynsel_options *options)
{
    const bool given = options != NULL && (options->resources != NULL || options->count != 0);
    dynsel_status status = given ? take_given(policy, options) : take_default(policy, options);
    for (uint32_t i = 0; status == DYNSEL_OK && i < policy->count; i++) {
        bool left_out = false;
        status = dynsel_table_adapt(policy, i, options != NULL ? options->adapt : NULL);
        if (status == DYNSEL_OK) {
            status = dynsel_table_admit(policy, i, given, &left_out);
        }
    }
    return status;
}
