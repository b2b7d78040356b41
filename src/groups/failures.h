/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect of failed work on the buffers that it writes, and on work that depends on it. Work
 * that failed after it began leaves lost contents, until they are written anew. Work that never
 * began changes nothing: dependents that read its output fail without a start, and later work finds
 * the contents from before.
 */
#ifndef DYNSEL_GROUPS_FAILURES_H
#define DYNSEL_GROUPS_FAILURES_H

#include "data/buffers.h"
#include "groups/group.h"
#include "port/likely.h"

/* For a buffer with failures: whether this use reads the output of failed work. */
DYNSEL_RARE bool dynsel_failure_concerns(const dynsel_use *use);

/* The first use that reads the output of work that is known to have failed; NULL: none. Also
 * without the lock. */
static inline const dynsel_use *dynsel_failures_find(const dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->uses->count; i++) {
        const dynsel_use *const use = &group->uses->each[i];
        if (use->reads &&
            !DYNSEL_LIKELY(dynsel_word_load_acquire(&use->record->failures.known) == 0) &&
            dynsel_failure_concerns(use)) {
            return use;
        }
    }
    return NULL;
}

/* Under the lock: the error of work that reads this. */
dynsel_error dynsel_failure_behind(const dynsel_use *use);

/* Under the lock: whether the contents of an unused buffer are lost; error: out, then. */
bool dynsel_failure_at_end(const dynsel_buffer_record *record, dynsel_error *error);

/* Under the lock: the version that is there when the one of this number, which was to be read or
 * written over, was not begun. */
uint32_t dynsel_failure_version(const dynsel_buffer_record *record, uint32_t version);

/* While the group is being started: its command did not begin. Takes back the decision before the
 * start becomes visible. Takes the lock. */
DYNSEL_RARE void dynsel_failure_enter(dynsel_handler *group, const dynsel_kept_error *error);

/* Enters the failure of work that ends. error: in and out, replaced by the first cause. Takes the
 * lock. */
DYNSEL_RARE void dynsel_failure_end(dynsel_handler *group, dynsel_kept_error *error);

/* A host command has failed: work behind it on the same worker may check before its end is
 * reported. began: it ran. */
DYNSEL_RARE void dynsel_failure_note_on_host(dynsel_handler *group, bool began);

/* Before a host command runs: DYNSEL_E_DEPENDENCY (last error set) if it reads the output of work
 * that failed ahead of it on its worker. */
dynsel_status dynsel_failure_check(const dynsel_handler *group);

#endif
