/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What failed work does to the buffers that it was to write, and to work that was entered behind
 * it. Work that has begun and failed leaves contents that are lost, until they are written anew.
 * Work that never began changes nothing: what was entered behind it and reads what it was to write
 * fails without a start, and what is entered after that finds the contents from before.
 */
#ifndef DYNSEL_GROUPS_FAILURES_H
#define DYNSEL_GROUPS_FAILURES_H

#include "data/buffers.h"
#include "groups/group.h"
#include "port/likely.h"

/* Of a buffer with failures: whether this use was to read what one of them was to write. */
DYNSEL_RARE bool dynsel_failure_concerns(const dynsel_use *use);

/* The first use whose old contents were to be written by work that failed, as far as that is known;
 * NULL: none. Also without the lock. */
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

/* Under the lock: what work fails with that was to read this. */
dynsel_error dynsel_failure_behind(const dynsel_use *use);

/* Under the lock: whether the contents of a buffer that nobody uses are lost; error: out, then. */
bool dynsel_failure_at_end(const dynsel_buffer_record *record, dynsel_error *error);

/* Under the lock: the version that is there when the one of this number, which was to be read or
 * written over, was not begun. */
uint32_t dynsel_failure_version(const dynsel_buffer_record *record, uint32_t version);

/* For who starts it: its command did not begin, and nothing will come of it. What was decided is
 * taken back and made known before anybody can see that it was started. Takes the lock. */
DYNSEL_RARE void dynsel_failure_enter(dynsel_handler *group, const dynsel_kept_error *error);

/* Of work that ends with this error; out: the first cause. Takes the lock. */
DYNSEL_RARE void dynsel_failure_end(dynsel_handler *group, dynsel_kept_error *error);

/* A host command has failed: what is behind it on its worker may ask before its end is told. began:
 * it ran. */
DYNSEL_RARE void dynsel_failure_note_on_host(dynsel_handler *group, bool began);

/* Before a host command runs: DYNSEL_E_DEPENDENCY (last error set) where what it reads was to be
 * written by work that failed ahead of it on its worker. */
dynsel_status dynsel_failure_check(const dynsel_handler *group);

#endif
