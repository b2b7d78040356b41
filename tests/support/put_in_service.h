/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_TESTS_PUT_IN_SERVICE_H
#define DYNSEL_TESTS_PUT_IN_SERVICE_H

#include <dynsel/policy.h>

#include "test.h"

/* Reinstates the resource if it is out of service. */
static inline void put_in_service(dynsel_policy *policy, size_t index)
{
    if (dynsel_resource_in_service(policy, index) != DYNSEL_OK) {
        assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, index));
    }
}

#endif
