/* SPDX-License-Identifier: Apache-2.0 */
/* The program takes a resource out of service. */
#ifndef DYNSEL_SUBMISSION_RESOURCE_STATES_H
#define DYNSEL_SUBMISSION_RESOURCE_STATES_H

#include "policy/policy.h"

#if CONFIG_DYNSEL_RESOURCE_STATES
/* From in service, on probation or suspect to `wanted`: DYNSEL_HEALTH_DRAINING or _OUT; from
 * draining to out of service. On behalf of `function`. DYNSEL_E_OUT_OF_SERVICE: it is there
 * already; DYNSEL_E_NO_RESOURCE: it is the last one in service. */
dynsel_status dynsel_resource_take_out(dynsel_policy *policy, size_t index, uint32_t wanted,
                                       const char *function);
#endif

#endif
