/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy that weighs data sees of a command group: what each resource would have to copy,
 * when the work that it depends on is predicted to end, and how often the data will be used. */
#ifndef DYNSEL_GROUPS_WEIGH_DATA_H
#define DYNSEL_GROUPS_WEIGH_DATA_H

#include <dynsel/policy.h>

#include "groups/group.h"

/* Before the group is entered into the order. Takes the lock. */
void dynsel_weigh_data(const dynsel_handler *group, const dynsel_policy *policy,
                       dynsel_data_outlook *outlook);

/* Under the lock, when the group is entered: counts its uses, and notes its predicted end. on:
 * its resource. */
void dynsel_weigh_note(const dynsel_handler *group, uint64_t end_ns, uint32_t on);

/* Under the lock: the program writes the buffer, so a period of uses ends. */
void dynsel_weigh_end_period(dynsel_buffer_record *record);

#endif
