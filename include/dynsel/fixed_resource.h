/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policy that always chooses the same resource: for testing one device, and as the baseline in
 * comparisons.
 *
 * Source: seed 002, `fixed_resource_policy`.
 */
#ifndef DYNSEL_FIXED_RESOURCE_H
#define DYNSEL_FIXED_RESOURCE_H

#include <stddef.h>

#include <dynsel/policy.h>

DYNSEL_BEGIN_DECLS

/** The policy with its choice; only the library looks inside. */
typedef struct dynsel_fixed_resource_policy {
    dynsel_policy policy;
    uint32_t index;
} dynsel_fixed_resource_policy;

/**
 * Always selects the resource at `offset` in the table that `options` gives.
 *
 * The seed's constructors are: a zeroed policy (1), options NULL or {0} (2, 4), options with
 * resources (3, 5). Selecting costs no atomic read-modify-write. A task without a form for that
 * resource is DYNSEL_E_UNSUPPORTED, a resource out of service DYNSEL_E_OUT_OF_SERVICE: it never
 * selects another resource.
 *
 * Errors: those of dynsel_policy_init(), and DYNSEL_E_INVALID when `offset` is past the table.
 * Ownership, context and blocking: as dynsel_policy_init().
 */
DYNSEL_CHECKED dynsel_status dynsel_fixed_resource_init(dynsel_fixed_resource_policy *policy,
                                                        const dynsel_options *options,
                                                        size_t offset)
    DYNSEL_TAGGED("dynsel_fixed_resource_init");

DYNSEL_END_DECLS

#endif
