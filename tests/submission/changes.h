/* SPDX-License-Identifier: Apache-2.0 */
/* The states of the resources of the policy of manual_fixture.h, and what it told of them. */
#ifndef DYNSEL_TESTS_SUBMISSION_CHANGES_H
#define DYNSEL_TESTS_SUBMISSION_CHANGES_H

#include "submission/manual_fixture.h"

enum { MOST_CHANGES = 8 };

static dynsel_resource_change changes[MOST_CHANGES]; /* the last ones */
static unsigned change_count;

/* The `resource_changed` of the policy. */
static inline void note_change(const dynsel_resource_change *change)
{
    changes[change_count++ % MOST_CHANGES] = *change;
}

static inline void assert_change(dynsel_resource_state before, dynsel_resource_state after,
                                 dynsel_status cause)
{
    assert_int_not_equal(0, change_count);
    const dynsel_resource_change *const last = &changes[(change_count - 1) % MOST_CHANGES];
    assert_ptr_equal(policy, last->policy);
    assert_int_equal(before, last->before);
    assert_int_equal(after, last->after);
    assert_int_equal(cause, last->cause);
}

static inline dynsel_resource_state state_of(size_t index)
{
    dynsel_resource_state state = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_OK, dynsel_resource_get_state(policy, index, &state));
    return state;
}

#endif
