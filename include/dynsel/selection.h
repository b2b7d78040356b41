/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Selections: the choice of a resource without a submit, for programs that need it before they
 * submit, or that start the work themselves.
 *
 * Source: seed 002, "Selection" and "Free Functions".
 */
#ifndef DYNSEL_SELECTION_H
#define DYNSEL_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/execution_info.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>
#include <dynsel/task.h>

DYNSEL_BEGIN_DECLS

/** A policy; see <dynsel/policy.h>. */
typedef struct dynsel_policy dynsel_policy;

/** The reasons, for macros: X(name, text). */
#define DYNSEL_REASON_LIST(X)                                                                      \
    X(DYNSEL_REASON_UNKNOWN, "the policy gave no reason")                                          \
    X(DYNSEL_REASON_FIXED, "the policy always chooses this resource")                              \
    X(DYNSEL_REASON_ONLY_CANDIDATE, "no other resource may be used for this task")                 \
    X(DYNSEL_REASON_ONLY_WITH_ASPECTS, "no other resource has the aspects that the task needs")    \
    X(DYNSEL_REASON_ONLY_IN_SERVICE, "the other resources are out of service")                     \
    X(DYNSEL_REASON_TURN, "it was this resource's turn")                                           \
    X(DYNSEL_REASON_LEAST_LOADED, "it had the least unfinished work")                              \
    X(DYNSEL_REASON_PROFILING, "its time for this task was not known")                             \
    X(DYNSEL_REASON_EXPLORING, "it got a trial run")                                               \
    X(DYNSEL_REASON_BEST_KNOWN, "it is the fastest known for this task")                           \
    X(DYNSEL_REASON_UNTRACKED, "the table of tuned tasks is full: the least loaded")               \
    X(DYNSEL_REASON_EARLIEST_FINISH, "it is predicted to finish first")                            \
    X(DYNSEL_REASON_FASTEST_ALONE, "it does all work sooner than several resources together")

/** Why a policy chose a resource. */
typedef enum dynsel_reason {
#define DYNSEL_REASON_ENUMERATOR(name, text) name,
    DYNSEL_REASON_LIST(DYNSEL_REASON_ENUMERATOR)
#undef DYNSEL_REASON_ENUMERATOR
} dynsel_reason;

/** Display text of the reason, one clause; static, empty without CONFIG_DYNSEL_STATUS_NAMES. Any
 * value is allowed. Context: any. Cost: constant. */
const char *dynsel_reason_text(dynsel_reason reason);

/** The words of a policy's own in each selection. */
enum { DYNSEL_NOTES = CONFIG_DYNSEL_POLICY_EARLIEST_FINISH ? 3 : 2 };

/** One choice. A selection that is not submitted claims nothing and need not be released: it may be
 * dropped, and then leaves no trace: no load, and no turn of auto_tune. Only round_robin advances
 * with each selection, as specified. It ends with its policy: dynsel_policy_deinit() neither waits
 * for selections nor fails because of them. */
typedef struct dynsel_selection {
    dynsel_policy *policy; /**< the policy that chose; NULL once the selection is consumed */
    uint32_t index;        /**< of the resource in dynsel_get_resources() */
    uint8_t reason;        /**< a dynsel_reason */
    uint8_t wants;         /**< dynsel_execution_info bits that the policy requests for this work */
    uint8_t reported;      /**< those that were reported */
    uint8_t claims;        /**< not 0: chosen inside a submit, so the work follows immediately; in
                              reports the library's own */
    uint32_t notes[DYNSEL_NOTES]; /**< data of the policy, returned with each report */
    uint32_t life; /**< the initialization of the policy that made it, set by dynsel_select();
                          0 in selections that a custom policy fills in itself */
#if CONFIG_DYNSEL_TRACE
    uint32_t piece; /**< its number in the trace; 0: none was running, or a custom policy filled the
                         selection in */
#endif
} dynsel_selection;

/**
 * Applies the policy once.
 *
 * task: the task to run, for its forms; borrowed during the call.
 * selection: out; unchanged on failure.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy, a task without any function),
 *     DYNSEL_E_UNINITIALIZED, DYNSEL_E_AGAIN (a custom policy has nothing free),
 *     DYNSEL_E_UNSUPPORTED (no resource that may be chosen has a form of the task), DYNSEL_E_ASPECT
 *     (no resource with a form has the aspects), DYNSEL_E_OUT_OF_SERVICE (all suitable resources
 *     are out of service).
 * May block: no.
 * Context: any thread; task functions.
 * Cost: that of the policy.
 */
DYNSEL_CHECKED dynsel_status dynsel_select(dynsel_policy *policy, const dynsel_task *task,
                                           dynsel_selection *selection);

/**
 * The chosen resource: one of dynsel_get_resources().
 *
 * Returns: borrowed from the policy; NULL with dynsel_last_error() set for NULL and where the
 *     policy was deinitialized and initialized again since (DYNSEL_E_INVALID), where it is not
 *     initialized any more (DYNSEL_E_UNINITIALIZED), and for a consumed selection (DYNSEL_E_STALE).
 * Context: any thread.
 * Cost: constant.
 */
const dynsel_resource *dynsel_selection_unwrap(const dynsel_selection *selection);

/** The policy that chose, even when it was deinitialized since; NULL for NULL and for a consumed
 * selection. Context: any. Cost: constant. */
dynsel_policy *dynsel_selection_policy(const dynsel_selection *selection);

/**
 * Whether the policy requests `info` for this work. Programs that run work themselves call this
 * before they measure. Where it is true of DYNSEL_TASK_WITHOUT_COPIES, the time is not to contain
 * copies of data to the resource.
 *
 * Returns: false for NULL, for a consumed selection, and where the policy was deinitialized since.
 * Context: any.
 * Cost: constant.
 */
bool dynsel_selection_needs(const dynsel_selection *selection, dynsel_execution_info info);

/**
 * Reports on work that the program itself ran on the resource of a selection, without submitting it
 * to dynsel.
 *
 * info: DYNSEL_TASK_SUBMISSION, then DYNSEL_TASK_COMPLETION, each once; information that the policy
 *     does not request is ignored, and a submission that it does not request need not be reported.
 * Errors: DYNSEL_E_INVALID (NULL; the policy was deinitialized since it chose, and initialized
 *     again at the same address; out of order or twice; DYNSEL_TASK_TIME, which has a value),
 *     DYNSEL_E_UNINITIALIZED (the policy is not initialized any more), DYNSEL_E_STALE (the
 *     selection was consumed by a submit). Nothing was reported then.
 * May block: no.
 * Context: any thread; one selection by one thread at a time.
 * Cost: that of the policy.
 */
DYNSEL_CHECKED dynsel_status dynsel_report(dynsel_selection *selection, dynsel_execution_info info);

/**
 * The same for information that has a value.
 *
 * info: DYNSEL_TASK_TIME or DYNSEL_TASK_START_TIME, each once, after the submission and not after
 *     the completion; or DYNSEL_TASK_READBACK_TIME, after the time, before or after the completion,
 *     once for each copy to the host. Where the time includes the copy back, there is nothing to
 *     report.
 * value: nanoseconds.
 * Errors: as dynsel_report(), and DYNSEL_E_INVALID for information without a value.
 */
DYNSEL_CHECKED dynsel_status dynsel_report_value(dynsel_selection *selection,
                                                 dynsel_execution_info info, uint64_t value);

DYNSEL_END_DECLS

#endif
