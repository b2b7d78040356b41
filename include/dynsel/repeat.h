/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Repeatable work: work that failed with its device runs once more, on another resource of its
 * policy, and its end is told once.
 *
 * A task is repeatable if it says so (dynsel_task.repeat). Doing it a second time, from the same
 * inputs, must give the results that doing it once would have given: what it reads, it must not
 * change, but for the memory that dynsel_repeat names, which the library keeps a copy of.
 *
 *     static unsigned char state[64];
 *     static const dynsel_repeat repeat = {.overwritten = state,
 *                                          .overwritten_bytes = sizeof state};
 *     status = dynsel_submit(policy, &(dynsel_task){.function = step, .repeat = &repeat}, &work);
 *
 * A command group says so with dynsel_set_repeatable(); the library knows what it overwrites.
 *
 * When it runs again: its first run ended with DYNSEL_E_DEVICE or DYNSEL_E_OUT_OF_SERVICE, or its
 * resource was given up (DYNSEL_E_GIVEN_UP) before it began, or while it ran a command group in
 * memory of its own only: what a hung device may still write, no other may. All other ends are
 * final, and so is the end of the second run. Where no other resource of the policy may run it, the
 * failure of the first run is reported, and the buffers of a command group are as before it. Some
 * contents may be lost, unless another device has a copy: what the run overwrote in memory that a
 * device shares with the host and does not give back; and what it had begun to overwrite of what it
 * discards, because nobody keeps that. Those who read it fail as behind all failed work. The first
 * run counts as a failure of its resource as always: for health, statistics and the policy's
 * reports.
 *
 * The second run starts in a call that collects work: a wait for any work, a submit that finds no
 * slot free, dynsel_progress(), dynsel_submission_poll(). It is not started in task functions. On a
 * host backend that works in the caller it runs in that call.
 *
 * Tables of fixed size: a second slot of CONFIG_DYNSEL_MAX_IN_FLIGHT is set aside for each piece of
 * repeatable work in flight, so that the failure of a device with full queues cannot leave it
 * without one; a copy of what it overwrites is in one of CONFIG_DYNSEL_KEPT_COUNT blocks of
 * CONFIG_DYNSEL_KEPT_BYTES. A submit waits for them as for its slot, and otherwise fails with
 * DYNSEL_E_FULL: accepted work is repeatable.
 *
 * The shadow check finds devices that compute wrong results (CONFIG_DYNSEL_SHADOW_CHECK). One in
 * `check_one_in` tasks that name their results, and whose first run succeeded, runs a second time
 * on another resource, from the same inputs, before its end is told. Equal results: those of the
 * first run stay. Otherwise a third resource decides: the work succeeds with the results on which
 * two agree, and the third is counted as wrong. Where no two agree, or no third may run it, the
 * work ends with DYNSEL_E_DEVICE, its results are those of the first run, and both are counted as
 * wrong. After CONFIG_DYNSEL_MAX_MISMATCHES wrong results a resource is out of service. A second
 * run that fails says nothing, and the results of the first stay. Command groups are not checked.
 * A check holds the second slot, and two blocks for results; it is left out where none are free.
 *
 * Not repeated: work that is over when the submit returns on a policy whose backends all work in
 * the caller.
 *
 * Source: design, faults: failover.
 */
#ifndef DYNSEL_REPEAT_H
#define DYNSEL_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/status.h>

#if CONFIG_DYNSEL_REPEAT

DYNSEL_BEGIN_DECLS

/** What running work a second time needs. Unused fields are zero. */
typedef struct dynsel_repeat {
    /** Memory that the work reads and overwrites. It is copied in the submit, and copied back
     * before the second run; NULL: none. */
    void *overwritten;
    size_t overwritten_bytes; /**< at most CONFIG_DYNSEL_KEPT_BYTES */
#if CONFIG_DYNSEL_SHADOW_CHECK
    /** The shadow check compares this memory, which the work writes; it may overlap `overwritten`.
     * NULL: the work is not checked. */
    void *results;
    size_t results_bytes; /**< at most CONFIG_DYNSEL_KEPT_BYTES */
    /** Whether two results are equal, of results_bytes each; NULL: all bytes are. For results that
     * may differ, such as sums of floating-point numbers. Called in the thread that collects the
     * work; must not call the library. */
    bool (*equal)(const void *one, const void *other, size_t bytes);
    /** One in so many pieces of work with this or another number is checked; 0: none, 1: each. */
    uint32_t check_one_in;
#endif
} dynsel_repeat;

/** Counts of the process since its start. They wrap at 2^32. */
typedef struct dynsel_repeat_statistics {
    uint32_t repeated; /**< second runs that were started */
    uint32_t failed;   /**< of those, that failed too */
    uint32_t nowhere;  /**< failures that no other resource could run again */
#if CONFIG_DYNSEL_SHADOW_CHECK
    uint32_t compared; /**< pieces of work whose results were compared with those of another run */
    uint32_t mismatched; /**< of those, where they differed */
    uint32_t undecided;  /**< of those, where no third run agreed with one of them */
    uint32_t
        unchecked; /**< pieces whose turn it was, but no block or no other resource was free, or
                              the second run failed */
#endif
} dynsel_repeat_statistics;

/**
 * What became of repeatable work whose device failed.
 *
 * Errors: none.
 * May block: no.
 * Context: any.
 * Cost: a load for each.
 */
dynsel_repeat_statistics dynsel_get_repeat_statistics(void);

DYNSEL_END_DECLS

#endif

#endif
