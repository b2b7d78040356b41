/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policy that takes the resources in turn: equal work on equal devices.
 *
 * Source: seed 002, `round_robin_policy`.
 */
#ifndef DYNSEL_ROUND_ROBIN_H
#define DYNSEL_ROUND_ROBIN_H

#include <stddef.h>

#include <dynsel/policy.h>

DYNSEL_BEGIN_DECLS

/** The policy with its turns; only the library looks inside. */
typedef struct dynsel_round_robin_policy {
    dynsel_policy policy;
    dynsel_word turn;
    dynsel_word
        partial_turns[CONFIG_DYNSEL_MAX_RESOURCES]; /* by the set of those that may be used */
} dynsel_round_robin_policy;

/**
 * Rotates through the table that `options` gives, beginning at `offset`, with each selection: also
 * with one of dynsel_select() that is dropped, so that two selections that are submitted later go
 * to two resources.
 *
 * The rotation goes over the resources that the task may use (in service, with the aspects that it
 * needs, and with a form for it), each as often as the others, and stays right however long it
 * runs. Tasks take turns with those that may use the same resources. Beside all resources,
 * CONFIG_DYNSEL_MAX_RESOURCES sets of them have separate turns; where tasks and resources out of
 * service make more sets than that, some sets share turns. Selecting costs one atomic
 * read-modify-write, and a check of each resource when the task has several forms or needs aspects,
 * or a resource is out of service.
 *
 * Its own set of default resources excludes the host of backend inline if there are workers or
 * OpenCL devices, because work there blocks the calling thread; see dynsel_default_set.
 *
 * The seed's constructors are: a zeroed policy (1), options NULL or {0} (2, 4), options with
 * resources (3, 5).
 *
 * Errors: those of dynsel_policy_init(), and DYNSEL_E_INVALID when `offset` is past the table.
 * Ownership, context and blocking: as dynsel_policy_init().
 */
DYNSEL_CHECKED dynsel_status dynsel_round_robin_init(dynsel_round_robin_policy *policy,
                                                     const dynsel_options *options, size_t offset)
    DYNSEL_TAGGED("dynsel_round_robin_init");

DYNSEL_END_DECLS

#endif
