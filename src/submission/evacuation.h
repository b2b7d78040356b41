/* SPDX-License-Identifier: Apache-2.0 */
/* What the room of command groups does when a resource is removed. */
#ifndef DYNSEL_SUBMISSION_EVACUATION_H
#define DYNSEL_SUBMISSION_EVACUATION_H

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_RESOURCE_SETS && CONFIG_DYNSEL_COMMAND_GROUPS
typedef struct dynsel_evacuation_ops {
    /* A resource without work leaves its policy: copies the data that only its memory has to the
     * host, and frees that memory, unless another resource of the policy has the same. A failure
     * can be tried again. May block. */
    dynsel_status (*evacuate)(const dynsel_policy *policy, uint32_t index, uint64_t deadline_ns);
} dynsel_evacuation_ops;

/* Filled in by src/groups/evacuate.c. */
extern const dynsel_evacuation_ops dynsel_evacuation;
#endif

#endif
