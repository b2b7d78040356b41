/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_GROUPS_EVACUATE_H
#define DYNSEL_GROUPS_EVACUATE_H

#include <dynsel/policy.h>

/* See dynsel_pending_ops. */
dynsel_status dynsel_evacuate(const dynsel_policy *policy, uint32_t index, uint64_t deadline_ns);

#endif
