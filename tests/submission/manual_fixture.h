/* SPDX-License-Identifier: Apache-2.0 */
/* A round_robin policy over the manual backend, whose work ends as the test says. */
#ifndef DYNSEL_TESTS_SUBMISSION_MANUAL_FIXTURE_H
#define DYNSEL_TESTS_SUBMISSION_MANUAL_FIXTURE_H

#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "test.h"

static manual_backend manual;
static dynsel_round_robin_policy round_robin;
static dynsel_policy *const policy = &round_robin.policy;

/* options: without resources, only their count. Returns a status, as a set-up does. */
static inline int manual_open(bool wait_completes, dynsel_options options)
{
    dynsel_resource resources[MANUAL_QUEUES];
    manual_backend_reset(&manual, true);
    atomic_store(&manual.wait_completes, wait_completes);
    for (unsigned i = 0; i < options.count; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    options.resources = resources;
    return dynsel_round_robin_init(&round_robin, &options, 0);
}

static inline int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    manual_assert_clean(&manual);
    return 0;
}

#endif
