/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policies: which resource the next piece of work gets.
 *
 * Every policy is a structure that begins with a `dynsel_policy`, which holds the table of
 * resources. A zeroed policy (static storage, or `= {0}`) is one whose initialization is deferred.
 * A policy knows its own address: it cannot be copied or moved, everybody holds a pointer to the
 * one.
 *
 * With CONFIG_DYNSEL_CONTEXT_THREADS every function on an initialized policy may be called from
 * several threads at once; initialization and deinitialization may not run beside anything else on
 * the same policy.
 *
 * Source: seed 002, "Policy"; seed 004.
 */
#ifndef DYNSEL_POLICY_H
#define DYNSEL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/error.h>
#include <dynsel/resource.h>
#include <dynsel/selection.h>
#include <dynsel/task.h>
#include <dynsel/word.h>

DYNSEL_BEGIN_DECLS

typedef struct dynsel_submission dynsel_submission;

/** Which default resources a policy gets. */
typedef enum dynsel_default_set {
    /** What the policy's header says: DYNSEL_HOST_AND_DEVICES, but round_robin and dynamic_load
     * leave the host of backend inline out where there is anything else. Work there is over when
     * the submit returns and keeps the caller from submitting more; only a policy that knows times
     * can tell when that pays. */
    DYNSEL_POLICYS_OWN_SET,
    /** First the host of backend inline (so that it has index 0), then the workers of backend
     * threads if the program has called dynsel_threads_start(), then OpenCL devices. */
    DYNSEL_HOST_AND_DEVICES,
    /** The workers, started if need be, then OpenCL devices: all that works beside the caller. */
    DYNSEL_WORKERS_AND_DEVICES
} dynsel_default_set;

/** What a policy chooses from. All zero: the policy's own set of default resources. */
typedef struct dynsel_options {
    const dynsel_resource *resources; /**< copied; NULL: the default resources */
    size_t count;                     /**< how many `resources` there are */
    /** Whose default resources, and only those, all of them; NULL: those of several backends. */
    dynsel_backend *backend;
    /** Which of them, where neither `resources` nor `backend` is given; else 0. Builds with neither
     * threads nor OpenCL have the host alone, and do not look at it. */
    dynsel_default_set defaults;
    /** Turns the user's handle into the backend's own, once for each resource when the policy is
     * initialized; the task function still gets the user's. NULL as result fails the
     * initialization. NULL: the handle is used as it is. */
    void *(*adapt)(void *handle);
} dynsel_options;

#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
struct dynsel_slot; /* the library's own */
#endif

/** How a policy chooses. A custom policy fills in the same table as the built-in ones. */
typedef struct dynsel_policy_ops {
    const char *name;

    /** dynsel_execution_info bits that the policy cannot do without. A backend that does not report
     * them is left out of the default resources, and refused among given ones. */
    uint32_t needs;

    /** Chooses a resource for `task`: fills in selection->index, which dynsel_policy_may_use() must
     * allow, and what else it likes: reason, notes, and in `wants` fewer bits than `needs` has, or
     * DYNSEL_TASK_READBACK_TIME besides, which the library itself reports of command groups.
     * When selection->claims is set it may count the submission at once, and then sets
     * DYNSEL_TASK_SUBMISSION in selection->reported: it will not be told again. DYNSEL_E_AGAIN:
     * none is free at the moment. Any other failure is returned to who submits. Never blocks.
     * Called from several threads at once with CONFIG_DYNSEL_CONTEXT_THREADS. */
    dynsel_status (*try_select)(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection);

#if CONFIG_DYNSEL_CUSTOM_POLICIES
    /** Optional: the policy's own way of dynsel_submit(), dynsel_try_submit() and
     * dynsel_submit_and_wait(), called instead of the library's, which makes a selection with
     * try_select and starts the work there. They place work with dynsel_submit_selection(), on a
     * selection of try_select or on one that they fill in themselves (policy, index, and wants with
     * the bits of `needs`; all else zero), and give it the submission that they got; one that
     * returns DYNSEL_OK without having done so fails the call with DYNSEL_E_INVALID, where a
     * submission was asked for. One of these or try_select is enough, and what is missing is made
     * of what is there: dynsel_submit() repeats try_submit while that is DYNSEL_E_AGAIN, and uses
     * try_select only where there is neither; dynsel_submit_for() repeats try_submit, else
     * try_select; dynsel_submit_and_wait() is dynsel_submit() and a wait. What cannot be made is
     * DYNSEL_E_UNSUPPORTED. */
    dynsel_status (*submit)(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission);
    dynsel_status (*try_submit)(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission);
    dynsel_status (*submit_and_wait)(dynsel_policy *policy, const dynsel_task *task);
#endif

    /** Hears what selection->wants asked for: DYNSEL_TASK_SUBMISSION first, then DYNSEL_TASK_TIME
     * with its value if the work succeeded and was timed, at last DYNSEL_TASK_COMPLETION; or
     * DYNSEL_TASK_WITHDRAWN after a submission that was refused. DYNSEL_TASK_READBACK_TIME comes
     * once for each buffer that such work wrote last and that was brought to the host's memory
     * afterwards: long after the completion, or never; not after dynsel_policy_deinit(). It is left
     * out where that was not the work's doing: where the way back stood in line behind other work,
     * where its end was seen late, and where data moved because a policy tried another resource
     * (DYNSEL_REASON_PROFILING or _EXPLORING) or the next run of the same kind was sent elsewhere.
     * `selection` is as try_select left it. Never blocks; ends no policy. Several threads at once.
     * Needed when `needs` or a `wants` is not 0. */
    void (*report)(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value);

#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL
    /** Its own set of default resources leaves the host of backend inline out where there is
     * anything else; see dynsel_default_set. For policies that know no times. */
    bool leaves_out_caller;
#endif

#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** The library's own: what it does for policies that want to hear of their work. Pointers, so
     * that a program whose policies do not has no code for it. */
    void (*note_step)(struct dynsel_slot *slot);                 /* see its states */
    void (*note_end)(struct dynsel_slot *slot, uint64_t end_ns); /* in dynsel_complete() */
#endif
} dynsel_policy_ops;

/** Book-keeping for one resource of one policy; only the library looks inside. */
typedef struct dynsel_lane {
    void *own; /* what the backend works with */
#if CONFIG_DYNSEL_LOSES_RESOURCES
    dynsel_word health; /* failures in a row, and whether it is out of service */
#endif
#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    uint32_t last_token;  /* of the work that was accepted last when some was marked last */
    uint64_t last_end_ns; /* when that was complete; 0: nobody knows */
#endif
#elif CONFIG_DYNSEL_IN_FLIGHT
    dynsel_word head; /* work in flight, oldest first, as slot numbers */
    dynsel_word tail;
    dynsel_word reaper;   /* one thread at a time takes finished work off the head */
    uint64_t last_end_ns; /* when the work taken off last was complete; 0: nobody saw */
    void *unsynchronized; /* newest event that was only polled; its wait makes all earlier results
                             visible */
#endif
} dynsel_lane;

#if CONFIG_DYNSEL_STATISTICS
/** What one thread counted for one resource; only the library looks inside. */
typedef struct dynsel_counts {
    dynsel_word submitted;
    dynsel_word completed;
    dynsel_word failed;
    dynsel_word unused;
} dynsel_counts;
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
/** What the ranges of command groups made move, and what not; see dynsel_set_range(). */
typedef struct dynsel_range_bytes {
    uint64_t staged_in;  /**< bytes copied to devices for them */
    uint64_t staged_out; /**< and back */
    uint64_t direct; /**< bytes that they have used where they are, because they are passed directly
                          (<dynsel/passed_directly.h>) */
} dynsel_range_bytes;
#endif

struct dynsel_policy {
    const dynsel_policy_ops *ops;
    const dynsel_policy *self; /* its own address once initialized */
    uint32_t count;            /* resources in the table */
    uint32_t ways;             /* how work is submitted: see src/policy/policy.h */
#if CONFIG_DYNSEL_LOSES_RESOURCES
    dynsel_word impaired; /* how many resources are out of service */
#endif
    dynsel_word
        life; /* tells this initialization from those before and after; 0: nobody asked yet */
    dynsel_word failed;        /* whether `failure` holds one */
    dynsel_kept_error failure; /* the earliest failure of work without a handle */
#if CONFIG_DYNSEL_ASPECTS
    uint32_t refused; /* default resources whose devices did not stand the proof */
    dynsel_aspect_set aspects[CONFIG_DYNSEL_MAX_RESOURCES];
#endif
    dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    dynsel_lane lanes[CONFIG_DYNSEL_MAX_RESOURCES];
#if CONFIG_DYNSEL_STATISTICS
    dynsel_counts counts[CONFIG_DYNSEL_COUNTING_THREADS][CONFIG_DYNSEL_MAX_RESOURCES];
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_range_bytes range_bytes; /* counted under a lock */
#endif
#endif
};

#if CONFIG_DYNSEL_CUSTOM_POLICIES
/**
 * Fills the table of resources; the first half of every policy's own init function, and all that a
 * custom policy needs.
 *
 * policy:  all zero; the caller's, must stay where it is until dynsel_policy_deinit().
 * ops:     static; kept by reference.
 * options: borrowed during the call; NULL is the same as all zero.
 * Errors:  DYNSEL_E_INVALID (NULL policy or ops; a policy that is initialized already, copied or
 *     not zeroed; resources without a count or the other way round, or together with `defaults`;
 *     `backend` together with `defaults`; a value of `defaults` that is none; a resource without a
 *     backend,
 *     or with one that lacks operations; a handle that its backend does not know), DYNSEL_E_FULL
 *     (more than CONFIG_DYNSEL_MAX_RESOURCES), DYNSEL_E_NO_RESOURCE (the default set is empty),
 *     DYNSEL_E_ASPECT (a given resource's device, or all of the default set, broke a promise of
 *     this build or is none of its targets: see <dynsel/targets.h>), DYNSEL_E_UNSUPPORTED (a
 *     backend whose work outlives a submit, without CONFIG_DYNSEL_IN_FLIGHT), and what the backends
 *     report. A policy that was zero is zero again after an error.
 * May block: yes, where a backend looks for devices. Not from interrupts or task functions.
 * Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_init(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                                const dynsel_options *options)
    DYNSEL_TAGGED("dynsel_policy_init");
#endif

/**
 * Ends the use of a policy and zeroes its dynsel_policy, so that it can be initialized again.
 * Selections that were not submitted end with it: they are refused from then on, and what was
 * reported of them is forgotten.
 *
 * Errors: DYNSEL_E_INVALID (NULL, a copy), DYNSEL_E_UNINITIALIZED, DYNSEL_E_BUSY (work in flight,
 *     or submissions that were neither waited for nor released; their number is in the error text;
 *     nothing was changed).
 * May block: no. Not beside other calls on this policy.
 * Cost: linear in the resources and CONFIG_DYNSEL_MAX_IN_FLIGHT.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_deinit(dynsel_policy *policy);

/**
 * The policy's resources, in the order of their indexes.
 *
 * count: out, may not be NULL; 0 on failure.
 * Returns: borrowed, valid until dynsel_policy_deinit(); NULL with dynsel_last_error() set to
 *     DYNSEL_E_INVALID or DYNSEL_E_UNINITIALIZED.
 * Context: any thread.
 * Cost: constant.
 */
const dynsel_resource *dynsel_get_resources(const dynsel_policy *policy, size_t *count);

#if CONFIG_DYNSEL_ASPECTS
/**
 * How many default resources were left out because their devices did not stand the proof of
 * <dynsel/targets.h>, or because their backend cannot use them (an OpenCL older than 1.2);
 * dynsel_last_error() tells about the last of them after the initialization.
 *
 * Returns: 0 for NULL, and for a policy that is not initialized.
 * Errors: none.
 * Context: any thread.
 * Cost: constant.
 */
size_t dynsel_refused_count(const dynsel_policy *policy);
#endif

#if CONFIG_DYNSEL_CUSTOM_POLICIES
/**
 * Whether a policy may choose the resource at `index` for `task`: it is in service, has the aspects
 * that the task needs, and the task has a form for it.
 *
 * policy, task: not NULL, initialized; index below the number of resources (asserted, not
 *     reported).
 * Context: any thread.
 * Cost: linear in the task's forms, no atomic read-modify-write. For try_select.
 */
bool dynsel_policy_may_use(const dynsel_policy *policy, uint32_t index, const dynsel_task *task);

/**
 * Fails because no resource may be used for `task`; what try_select returns then.
 *
 * policy, task: not NULL, initialized.
 * Returns: DYNSEL_E_OUT_OF_SERVICE when a resource that would do is out of service, DYNSEL_E_ASPECT
 *     when one would do but for its aspects (the text names the first that it lacks), else
 *     DYNSEL_E_UNSUPPORTED.
 * Context: any thread.
 * Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_refuse(const dynsel_policy *policy,
                                                  const dynsel_task *task);

/**
 * Why a resource is the only one that may be used for `task`, for policies that found no other:
 * DYNSEL_REASON_ONLY_IN_SERVICE when another one would do but is out of service,
 * DYNSEL_REASON_ONLY_WITH_ASPECTS when another one would do but for its aspects, else
 * DYNSEL_REASON_ONLY_CANDIDATE.
 *
 * policy, task: not NULL, initialized; index: the resource's.
 * Context: any thread.
 * Cost: linear in the resources.
 */
dynsel_reason dynsel_policy_reason_of_only(const dynsel_policy *policy, uint32_t index,
                                           const dynsel_task *task);
#endif

/**
 * Whether the resource at `index` takes part in the selection. A resource goes out of service when
 * its device is lost or after CONFIG_DYNSEL_MAX_FAILURES pieces of work in a row that ended in
 * DYNSEL_E_DEVICE. A loss counts as soon as the backend knows of it, also through work of another
 * policy; the policy itself passes the resource over from the next work on that it refuses.
 *
 * Errors: DYNSEL_OK (in service), DYNSEL_E_OUT_OF_SERVICE, DYNSEL_E_INVALID (NULL, a copy, index
 *     past the table), DYNSEL_E_UNINITIALIZED.
 * Context: any thread.
 * Cost: constant.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_in_service(const dynsel_policy *policy, size_t index);

/**
 * Puts a resource back into service, with no failures counted. A lost device refuses its next work
 * and is out again.
 *
 * Errors: DYNSEL_E_INVALID (NULL, a copy, index past the table), DYNSEL_E_UNINITIALIZED.
 * Context: any thread.
 * Cost: constant.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_reinstate(dynsel_policy *policy, size_t index);

DYNSEL_END_DECLS

#endif
