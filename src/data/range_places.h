/* SPDX-License-Identifier: Apache-2.0 */
/* Where a command group with ranges can run. */
#ifndef DYNSEL_DATA_RANGE_PLACES_H
#define DYNSEL_DATA_RANGE_PLACES_H

#include <dynsel/backend.h>

#include "base/fail.h"
#include "groups/group.h"
#include "port/likely.h"

/* For dynsel_ranges_may_go(). */
bool dynsel_ranges_may_be_staged(const dynsel_handler *group, const dynsel_memory_ops *memory);

/* Whether resources of this backend can get them: in the host's memory there is nothing to it. */
static inline bool dynsel_ranges_may_go(const dynsel_handler *group, const dynsel_backend *backend)
{
    return DYNSEL_LIKELY(group->staged_count == 0 && group->only_on_host == NULL) ||
           backend->ops->memory == NULL || dynsel_ranges_may_be_staged(group, backend->ops->memory);
}

/* Why a backend that has a form cannot; on behalf of `function`. */
DYNSEL_RARE dynsel_status dynsel_ranges_refuse(const dynsel_handler *group, const char *function);

#endif
