/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Execution info: the reports that policies receive about the work that they placed.
 *
 * Source: seed 002, "Execution Info"; seed 004, "Execution Information".
 */
#ifndef DYNSEL_EXECUTION_INFO_H
#define DYNSEL_EXECUTION_INFO_H

#include <dynsel/config.h>

/** Bits, so that a policy can need, and a backend can report, several. */
typedef enum dynsel_execution_info {
    DYNSEL_TASK_SUBMISSION = 1, /**< the work was accepted; no value */
    DYNSEL_TASK_COMPLETION = 2, /**< the work is complete, also when it failed; no value */
    DYNSEL_TASK_TIME = 4,       /**< nanoseconds that the work itself took, without queueing; not of
                             failed work */
    DYNSEL_TASK_WITHDRAWN =
        8, /**< a reported submission did not take place: the resource refused it; no value */
    DYNSEL_TASK_READBACK_TIME =
        16, /**< nanoseconds that the copy of the results back to the host's memory took, for each
               buffer; part of the work's time, and known only afterwards, if ever */
    DYNSEL_TASK_START_TIME =
        32, /**< nanoseconds that the start of the work took of the thread that started it, with the
               copies in that it enqueued; not of work that runs in its caller */
    DYNSEL_TASK_WITHOUT_COPIES =
        64 /**< no report: in `wants` of a selection, never in `needs`, how DYNSEL_TASK_TIME is
              wanted: without the copies of data to the resource. Backends that can do so set
              times_runs_alone in dynsel_backend_ops; others ignore it. */
} dynsel_execution_info;

/**
 * Does not compile unless a backend reports what a policy needs, as in
 * `DYNSEL_ASSERT_REPORTS(MY_BACKEND_REPORTS, DYNSEL_AUTO_TUNE_NEEDS);` for custom policies and
 * backends. The build checks those of the library, each against each. Combinations known only at
 * run time are checked when a policy is initialized.
 *
 * reports, needs: constant expressions of dynsel_execution_info bits.
 */
#define DYNSEL_ASSERT_REPORTS(reports, needs)                                                      \
    DYNSEL_STATIC_ASSERT_(((unsigned)(needs) & ~(unsigned)(reports)) == 0,                         \
                          "the backend does not report what the policy needs")

#endif
