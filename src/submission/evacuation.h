/* SPDX-License-Identifier: Apache-2.0 */
/* What the room of command groups does when a resource is removed. */
#ifndef DYNSEL_SUBMISSION_EVACUATION_H
#define DYNSEL_SUBMISSION_EVACUATION_H

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_RESOURCE_SETS && CONFIG_DYNSEL_COMMAND_GROUPS
/* A resource without work leaves its policy: copies the data that only its memory has to the host,
 * and frees that memory, unless another resource of the policy has the same. A failure can be tried
 * again. May block. Filled in by src/groups/evacuate.c. */
extern dynsel_status (*const dynsel_evacuation)(const dynsel_policy *policy, uint32_t index,
                                                uint64_t deadline_ns);
#endif

#endif
