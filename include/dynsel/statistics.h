/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Statistics: counts for each resource of a policy and for the table of submissions in flight, and
 * a check of the library's internal invariants. Counts wrap at 2^32.
 *
 * With CONFIG_DYNSEL_STATISTICS every thread counts a policy's work separately, without a shared
 * read-modify-write. The use of the table cannot be counted separately: each slot that is claimed
 * or becomes free costs one relaxed atomic addition on a word that all threads share.
 */
#ifndef DYNSEL_STATISTICS_H
#define DYNSEL_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/submission.h>

DYNSEL_BEGIN_DECLS

/** The work of one policy on one resource. */
typedef struct dynsel_resource_statistics {
    uint32_t submitted; /**< submissions started on this resource */
    uint32_t completed; /**< of those, known to be complete, including failed ones */
    uint32_t failed;    /**< of those, failed */
} dynsel_resource_statistics;

/** The table of submissions in flight. */
typedef struct dynsel_in_flight_statistics {
    uint32_t capacity;    /**< CONFIG_DYNSEL_MAX_IN_FLIGHT; 0 without CONFIG_DYNSEL_IN_FLIGHT */
    uint32_t in_use;      /**< slots that are not free now */
    uint32_t most_in_use; /**< With CONFIG_DYNSEL_STATISTICS the most slots that were ever in use at
                             once, noted at each claim: exact for one thread; with more never too
                             high, and too low by at most the slots that threads were claiming or
                             freeing at that moment. A submit that its backend refused, and work
                             that completed directly, had a slot for that time too. Without
                             CONFIG_DYNSEL_STATISTICS the most that a submit that found none free,
                             or a call for these statistics, has found; a peak between two of them
                             is missed; 0 with CONFIG_DYNSEL_IN_FLIGHT_SMALL */
    uint32_t refusals; /**< submits that found no slot: DYNSEL_E_FULL and DYNSEL_E_TIMEOUT. 0 with
                            CONFIG_DYNSEL_IN_FLIGHT_SMALL without CONFIG_DYNSEL_STATISTICS */
} dynsel_in_flight_statistics;

/**
 * The counts of one resource of a policy since its initialization.
 *
 * counts: out; not NULL.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy, index past the table), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_UNSUPPORTED (without CONFIG_DYNSEL_STATISTICS).
 * May block: no.
 * Context: any thread; counts of work that is ending just now may be one behind.
 * Cost: one read of each thread's counts.
 */
DYNSEL_CHECKED dynsel_status dynsel_get_statistics(const dynsel_policy *policy, size_t index,
                                                   dynsel_resource_statistics *counts);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/**
 * The bytes that the ranges of a command group (dynsel_set_range()) have staged so far, and those
 * used directly: final once its work is complete.
 *
 * submission: not yet waited for or released; the result is all zero for work that is no command
 * group.
 * bytes: out; not NULL.
 * Errors: DYNSEL_E_INVALID (NULL or never submitted), DYNSEL_E_STALE.
 * May block: no.
 * Context: any thread.
 * Cost: one short lock.
 */
DYNSEL_CHECKED dynsel_status dynsel_submission_range_bytes(const dynsel_submission *submission,
                                                           dynsel_range_bytes *bytes);

/**
 * The same over all command groups of a policy since its initialization. Wraps at 2^64.
 *
 * bytes: out; not NULL.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy), DYNSEL_E_UNINITIALIZED, DYNSEL_E_UNSUPPORTED
 *     (without CONFIG_DYNSEL_STATISTICS).
 * May block: no.
 * Context: any thread.
 * Cost: one short lock.
 */
DYNSEL_CHECKED dynsel_status dynsel_get_range_statistics(const dynsel_policy *policy,
                                                         dynsel_range_bytes *bytes);
#endif

/** The table of submissions in flight, over all policies. Context: any thread. Cost: a check of
 * each slot. */
dynsel_in_flight_statistics dynsel_get_in_flight_statistics(void);

/**
 * Whether the library's internal invariants hold: every slot is in a valid state, every list of
 * work is consistent, and all work of the policy is in a list, so that no slot is lost. For
 * tests, for assertions in a super-loop, and for confirming a bug report.
 *
 * policy: also checks this policy's lists and counts; NULL: only the table of slots, which detects
 *     a claimed slot without an owner, but not a slot that is in no list. With
 *     CONFIG_DYNSEL_IN_FLIGHT_SMALL there are no lists, and a slot whose start never ended counts
 *     as one that is being started.
 * Returns: false when an invariant is violated, by a bug of the library or by overwritten memory.
 * Context: while no other thread calls the library; false in a task function, whose own slot is
 *     just claimed then.
 * Cost: a check of each slot, for a policy once more for each resource.
 */
bool dynsel_invariants_hold(const dynsel_policy *policy);

DYNSEL_END_DECLS

#endif
