/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policy "weighted": each resource gets work as often as its weight says, evenly spread over a
 * round of as many turns as the weights sum up to.
 */
#ifndef ACME_WEIGHTED_H
#define ACME_WEIGHTED_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS && !defined(__cplusplus)
#include <stdatomic.h>
typedef atomic_uint acme_turn;
#else
typedef unsigned acme_turn; /* one thread selects */
#endif

DYNSEL_BEGIN_DECLS

/** Zeroed: not initialized yet. */
typedef struct acme_weighted_policy {
    dynsel_policy policy; /* must be first */
    acme_turn turn;
    uint32_t length; /* turns of a round */
    uint8_t resource_of_turn[CONFIG_ACME_WEIGHTED_ROUND];
} acme_weighted_policy;

/**
 * Initializes a policy.
 *
 * options: as for every policy; must give `resources`.
 * weights: one for each resource, borrowed during the call; 0: gets work only when no other may.
 * Errors: DYNSEL_E_INVALID (NULL, no resources, all weights 0, or a sum above
 *     CONFIG_ACME_WEIGHTED_ROUND: raise that option), and those of dynsel_policy_init().
 * Ends with dynsel_policy_deinit().
 */
DYNSEL_CHECKED dynsel_status acme_weighted_init(acme_weighted_policy *policy,
                                                const dynsel_options *options,
                                                const uint8_t *weights);

DYNSEL_END_DECLS

#endif
