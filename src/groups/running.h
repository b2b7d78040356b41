/* SPDX-License-Identifier: Apache-2.0 */
/* One start of a command group on a device, for those who do parts of it. Without the lock. */
#ifndef DYNSEL_GROUPS_RUNNING_H
#define DYNSEL_GROUPS_RUNNING_H

#include <dynsel/backend.h>

#include "groups/group.h"

typedef struct dynsel_running {
    dynsel_handler *group;
    const dynsel_resource *where;
    dynsel_backend *backend;
    const dynsel_memory_ops *ops;
    void *own;
    uint32_t pinned;      /* in group->uses->after, from the first on */
    uint32_t after_count; /* of `events`: of work that was pinned */
    uint32_t event_count; /* with those of what was brought */
    dynsel_event events[DYNSEL_MOST_AFTER];
} dynsel_running;

/* Makes room in the group's domain; false: there is nothing to give up. */
bool dynsel_running_evict(const dynsel_handler *group);

/* The device has no room for what is called `name`, and none could be made. failures_before: of the
 * thread, to tell how the backend said so. */
dynsel_status dynsel_running_refuse_full(const char *name, size_t bytes, uint32_t failures_before);

void dynsel_running_release(const dynsel_running *r, dynsel_event event);

/* Whether ranges have to be copied. */
static inline bool dynsel_running_stages(const dynsel_handler *group)
{
    return group->uses->staged_count != 0 && group->uses->domain != DYNSEL_HOST_DOMAIN;
}

/* The three steps of ranges. Room first, then the data, before the command; and behind it, where it
 * was started, the way back, whose event takes the place of the command's. */
dynsel_status dynsel_stage_allocate(const dynsel_running *r);
dynsel_status dynsel_stage_in(dynsel_running *r);
dynsel_status dynsel_stage_out(const dynsel_running *r, dynsel_event *done);

#endif
