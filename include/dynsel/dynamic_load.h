/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policy that chooses the resource with the fewest unfinished pieces of work: for equal work on
 * unequal or busy devices.
 *
 * Source: seed 002, `dynamic_load_policy`.
 */
#ifndef DYNSEL_DYNAMIC_LOAD_H
#define DYNSEL_DYNAMIC_LOAD_H

#include <stddef.h>

#include <dynsel/policy.h>

DYNSEL_BEGIN_DECLS

/** The reports that a backend must provide for dynamic_load. */
#define DYNSEL_DYNAMIC_LOAD_NEEDS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION)

/** The policy with the loads of its resources; only the library looks inside. */
typedef struct dynsel_dynamic_load_policy {
    dynsel_policy policy;
    dynsel_busy_word loads[CONFIG_DYNSEL_MAX_RESOURCES]; /* unfinished work, by resource */
} dynsel_dynamic_load_policy;

/**
 * Selects the resource of the table that `options` gives with the least unfinished work of this
 * policy; among equals the one with the lowest index. Work counts from the moment it is chosen
 * inside a submit, so threads that submit together spread; a selection of dynsel_select() when it
 * is submitted, or when the program reports its submission.
 *
 * Its own set of default resources excludes the host of backend inline if there are workers or
 * OpenCL devices, because work there is complete before the next choice and never counts as load:
 * it would get all work. See dynsel_default_set, also for programs that give inline resources
 * themselves.
 *
 * Selecting reads each resource's load and costs one atomic read-modify-write, completing another.
 * The seed's constructors are: a zeroed policy (1), options NULL or {0} (2, 4), options
 * with resources (3, 5).
 *
 * Errors: those of dynsel_policy_init().
 * Ownership, context and blocking: as dynsel_policy_init().
 */
DYNSEL_CHECKED dynsel_status dynsel_dynamic_load_init(dynsel_dynamic_load_policy *policy,
                                                      const dynsel_options *options)
    DYNSEL_TAGGED("dynsel_dynamic_load_init");

DYNSEL_END_DECLS

#endif
