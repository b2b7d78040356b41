/* SPDX-License-Identifier: Apache-2.0 */
/** A policy over resources that are like recorded ones to it, and run nothing. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include "recording.h"

/** The policies that the library has. */
typedef enum policy_kind {
    FIXED_RESOURCE,
    ROUND_ROBIN,
    DYNAMIC_LOAD,
    AUTO_TUNE,
    EARLIEST_FINISH,
    POLICY_KINDS /**< how many there are */
} policy_kind;

typedef union any_policy {
    dynsel_policy policy;
    dynsel_fixed_resource_policy fixed_resource;
    dynsel_round_robin_policy round_robin;
    dynsel_dynamic_load_policy dynamic_load;
    dynsel_auto_tune_policy auto_tune;
    dynsel_earliest_finish_policy earliest_finish;
} any_policy;

typedef struct machine_resource {
    dynsel_simulated_device device;
    dynsel_backend backend;
    dynsel_backend_ops ops;
} machine_resource;

extern const char *const machine_policy_names[POLICY_KINDS];

/** POLICY_KINDS: the library has no policy of that name. */
policy_kind machine_kind_of(const char *name);

/** Initializes a policy that is zero. option: what its init function gets beside the resources. */
dynsel_status machine_init_policy(any_policy *policy, policy_kind kind,
                                  const dynsel_options *options, uint64_t option);

/** The same with resources that look like recorded ones. resources: as many as it has; both stay
 * until the policy is deinitialized. Returns 0, or EXIT_WRONG after one line. */
int machine_like(const recorded_policy *recorded, any_policy *policy, machine_resource *resources);

#endif
