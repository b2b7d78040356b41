/* SPDX-License-Identifier: Apache-2.0 */
/* The earliest failure of a policy's detached work, kept for who waits for the group. */
#ifndef DYNSEL_SUBMISSION_GROUP_FAILURE_H
#define DYNSEL_SUBMISSION_GROUP_FAILURE_H

#include <dynsel/policy.h>

/* Keeps the failure of detached work, unless an earlier one is kept already. */
void dynsel_group_note_failure(dynsel_policy *policy, const dynsel_kept_error *error);

/* Fails with what is kept, and forgets it. A failure that another thread is just writing down
 * counts. */
dynsel_status dynsel_group_take_failure(dynsel_policy *policy);

#endif
