/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect of failed work on the buffers that it writes, and on its dependents. If the command
 * began, the contents of the buffers are lost until other work writes them. If the command never
 * began, the contents are unchanged: dependents that read its output fail without a start, and
 * later work finds the earlier contents.
 */
#ifndef DYNSEL_GROUPS_FAILURES_H
#define DYNSEL_GROUPS_FAILURES_H

#include "data/buffers.h"
#include "groups/group.h"
#include "port/likely.h"

/* Whether some buffer has failures, with or without the lock. */
static inline bool dynsel_failures_exist(void)
{
    return !DYNSEL_LIKELY(dynsel_word_load_acquire(&dynsel_pending_alarms) == 0);
}

/* For a buffer with failures: whether the use reads the output of failed work. */
DYNSEL_RARE bool dynsel_failure_concerns(const dynsel_use *use);

/* The first use that reads the output of work that is known to have failed; NULL: none. With or
 * without the lock. */
static inline const dynsel_use *dynsel_failures_find(const dynsel_handler *group)
{
    for (uint32_t i = 0; dynsel_failures_exist() && i < group->uses->count; i++) {
        const dynsel_use *const use = &group->uses->each[i];
        if (use->reads && dynsel_word_load_acquire(&use->record->failures.known) != 0 &&
            dynsel_failure_concerns(use)) {
            return use;
        }
    }
    return NULL;
}

/* Under the lock: the error of a group with this use. */
dynsel_error dynsel_failure_behind(const dynsel_use *use);

/* Under the lock: whether the contents of an unused buffer are lost. error: out, if they are. */
bool dynsel_failure_at_end(const dynsel_buffer_record *record, dynsel_error *error);

/* Under the lock: the version of the contents that `version` stands for: an earlier one if the work
 * that should write `version` did not begin. */
uint32_t dynsel_failure_version(const dynsel_buffer_record *record, uint32_t version);

/* During the start of the group: its command did not begin. Undoes the decision before the start
 * becomes visible. Takes the lock. */
DYNSEL_RARE void dynsel_failure_enter(dynsel_handler *group, const dynsel_kept_error *error);

/* Enters the failure of work that ends. error: in and out, replaced with the first cause. Takes the
 * lock. */
DYNSEL_RARE void dynsel_failure_end(dynsel_handler *group, dynsel_kept_error *error);

/* Under the lock: a run of the group failed with this status. If its resource was given up, and may
 * use the program's memory of its buffers, the ends of these buffers tell it; memory of the library
 * that it may use is not used again. */
void dynsel_failure_note_given_up(const dynsel_handler *group, dynsel_status status);

/* Under the lock: whether the command of failed work may have begun. */
bool dynsel_failure_has_begun(const dynsel_handler *group, dynsel_status status);

/* A host command has failed. Later work on the same worker may check this before the end is
 * reported. began: the command ran. */
DYNSEL_RARE void dynsel_failure_note_on_host(dynsel_handler *group, bool began);

/* Before the group is recorded again: forgets a failure of a command whose resource was given up
 * before it failed. */
DYNSEL_RARE void dynsel_failure_forget(dynsel_handler *group);

/* Before a host command runs: DYNSEL_E_DEPENDENCY (last error set) if it reads the output of work
 * that failed earlier on the same worker, or follows such work. */
dynsel_status dynsel_failure_check(dynsel_handler *group);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
void dynsel_failures_forget_all(void);
#endif

#endif
