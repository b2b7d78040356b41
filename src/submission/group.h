/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_SUBMISSION_GROUP_H
#define DYNSEL_SUBMISSION_GROUP_H

#include <dynsel/policy.h>

/* Keeps the failure of work that nobody asks for, unless an earlier one is kept already. */
void dynsel_group_note_failure(dynsel_policy *policy, const dynsel_kept_error *error);

#endif
