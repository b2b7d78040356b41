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
 * failure of the first run is reported, and the buffers of a command group are as before it. The
 * first run counts as a failure of its resource as always: for health, statistics and the policy's
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
 * Not repeated: work that is over when the submit returns on a policy whose backends all work in
 * the caller.
 *
 * Source: design, faults: failover.
 */
#ifndef DYNSEL_REPEAT_H
#define DYNSEL_REPEAT_H

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
} dynsel_repeat;

/** Counts of the process since its start. They wrap at 2^32. */
typedef struct dynsel_repeat_statistics {
    uint32_t repeated; /**< second runs that were started */
    uint32_t failed;   /**< of those, that failed too */
    uint32_t nowhere;  /**< failures that no other resource could run again */
} dynsel_repeat_statistics;

/**
 * What became of repeatable work whose device failed.
 *
 * Errors: none.
 * May block: no.
 * Context: any.
 * Cost: three loads.
 */
dynsel_repeat_statistics dynsel_get_repeat_statistics(void);

DYNSEL_END_DECLS

#endif

#endif
