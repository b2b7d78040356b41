/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happened so far: counts for each resource of a policy and for the table of submissions in
 * flight, and a check of the library's own books. Counts wrap at 2^32.
 *
 * With CONFIG_DYNSEL_STATISTICS every thread counts a policy's work for itself, so that costs no
 * shared read-modify-write. How full the table is cannot be known so: each slot that is claimed or
 * becomes free costs one relaxed atomic addition on a word that all threads share.
 */
#ifndef DYNSEL_STATISTICS_H
#define DYNSEL_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/submission.h>

DYNSEL_BEGIN_DECLS

typedef struct dynsel_resource_statistics {
    uint32_t submitted; /**< pieces of work that were started here */
    uint32_t completed; /**< of those, complete and known to be, failed ones too */
    uint32_t failed;    /**< of those, failed */
} dynsel_resource_statistics;

typedef struct dynsel_in_flight_statistics {
    uint32_t capacity;    /**< CONFIG_DYNSEL_MAX_IN_FLIGHT; 0 without CONFIG_DYNSEL_IN_FLIGHT */
    uint32_t in_use;      /**< slots that are not free now */
    uint32_t most_in_use; /**< With CONFIG_DYNSEL_STATISTICS the most slots that were ever in use at
                             once, noted at each claim: exact for one thread; with more never too
                             high, and too low by at most the slots that threads were claiming or
                             freeing at that moment. A submit that was refused by its backend, and
                             work that was over at once, had a slot for that time too. Without
                             CONFIG_DYNSEL_STATISTICS the most that a submit that found none free,
                             or a call for these statistics, has found, and a peak between two of
                             them is missed; 0 with CONFIG_DYNSEL_IN_FLIGHT_SMALL */
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
 * Cost: a look at each thread's counts.
 */
DYNSEL_CHECKED dynsel_status dynsel_get_statistics(const dynsel_policy *policy, size_t index,
                                                   dynsel_resource_statistics *counts);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/**
 * What the ranges of a command group (dynsel_set_range()) made move so far, and what not: all that
 * there is once its work is complete.
 *
 * submission: not yet waited for or released; all zero comes out for work that is no command group.
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

/** The table of submissions in flight, over all policies. Context: any thread. Cost: a look at each
 * slot. */
dynsel_in_flight_statistics dynsel_get_in_flight_statistics(void);

/**
 * Whether the library's books are in order: every slot in a state that exists, every list of work
 * whole, and no work of the policy that stands in no list, whose slot would be lost. For tests, for
 * asserting in a super-loop, and for believing a bug report.
 *
 * policy: also looks at this policy's lists and counts; NULL: only at the table of slots, where a
 *     slot that was claimed and is nobody's is found, and one that no list has is not. With
 *     CONFIG_DYNSEL_IN_FLIGHT_SMALL there are no lists, and a slot whose start was never ended is
 *     taken for one that is being started.
 * Returns: false when something is wrong, which is a mistake of the library or memory that was
 *     written over.
 * Context: while no other thread calls the library; false in a task function, whose own slot is
 *     just claimed then.
 * Cost: a look at each slot, for a policy once more for each resource.
 */
bool dynsel_invariants_hold(const dynsel_policy *policy);

DYNSEL_END_DECLS

#endif
