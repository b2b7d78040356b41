/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policies: they select the resource for each submission.
 *
 * Every policy is a structure that begins with a `dynsel_policy`, which holds the table of
 * resources. A zeroed policy (static storage, or `= {0}`) is one whose initialization is deferred.
 * A policy stores its own address: it cannot be copied or moved; all users hold a pointer to the
 * same object.
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

/** A submission; see <dynsel/submission.h>. */
typedef struct dynsel_submission dynsel_submission;

/** Which default resources a policy gets. */
typedef enum dynsel_default_set {
    /** What the policy's header says: DYNSEL_HOST_AND_DEVICES, but round_robin and dynamic_load
     * exclude the host of backend inline if there are other resources. Work there is complete when
     * the submit returns, and blocks the calling thread until then; only a policy that measures
     * times can tell when that pays. */
    DYNSEL_POLICYS_OWN_SET,
    /** First the host of backend inline (so that it has index 0), then the workers of backend
     * threads if the program has called dynsel_threads_start(), then OpenCL devices. */
    DYNSEL_HOST_AND_DEVICES,
    /** The workers, started if necessary, then OpenCL devices: all resources that run beside the
     * caller. */
    DYNSEL_WORKERS_AND_DEVICES
} dynsel_default_set;

#if CONFIG_DYNSEL_COMMAND_GROUPS
/** The data of a command group, as a policy that sets `weighs_data` sees them while it chooses. */
typedef struct dynsel_data_outlook {
    uint64_t bytes_in[CONFIG_DYNSEL_MAX_RESOURCES]; /**< to copy to each resource for the start, as
                                                         far as it is known now */
#if CONFIG_DYNSEL_RESOURCE_SETS
    uint32_t resources; /**< how many entries of `bytes_in` there are */
#endif
    uint64_t ready_ns;   /**< when the work that it depends on is predicted to end, on the clock of
                              dynsel_now_ns(); 0: it depends on none, or nobody predicted it */
    uint32_t ready_on;   /**< the resource of that work, of the policy that chose it; UINT32_MAX:
                              none, or not known */
    uint32_t uses_ahead; /**< how often the data are expected to be used before the program writes
                              them anew, this use included: as often as in earlier periods, or in
                              the first one as often as so far; at least 1 */
    uint32_t updates_ahead; /**< how often work is expected to read and write the data that this
                                 work writes (the first of several) before the program writes them,
                                 without this work: as `uses_ahead` */
    uint32_t expected_on;   /**< the resource of the last work that wrote these data, of the policy
                                 that chose it; UINT32_MAX: this work writes none */
    bool comes_behind;      /**< some of the data are in the memory of a device alone, and copies
                                 from there come behind what is queued on it */
    bool follows;           /**< it reads data that other work wrote, and does not write them */
    uint64_t work_items;    /**< of the kernel that it launches; 0: it launches none */
    uint64_t end_ns;      /**< out: when the policy predicts that this work ends; 0: it does not */
    uint64_t expected_ns; /**< in and out: for how long the policy expects `updates_ahead` to keep
                               the resource busy; in: as it said for the last work that wrote these
                               data; 0: not at all, or not known */
} dynsel_data_outlook;
#endif

#if CONFIG_DYNSEL_RESOURCE_STATES
struct dynsel_resource_change; /* <dynsel/resource_states.h> */
#endif

/** The resources of a policy. All zero: the policy's own set of default resources. */
typedef struct dynsel_options {
    const dynsel_resource *resources; /**< copied; NULL: the default resources */
    size_t count;                     /**< how many `resources` there are */
    /** Selects exactly the default resources of this backend; NULL: those of several backends. */
    dynsel_backend *backend;
    /** The set of default resources, if neither `resources` nor `backend` is given; else 0. Builds
     * with neither threads nor OpenCL have the host alone, and ignore this field. */
    dynsel_default_set defaults;
    /** Turns the user's handle into the backend's own, once for each resource when the policy is
     * initialized; the task function still gets the user's. NULL as result fails the
     * initialization. NULL: the handle is used as it is. */
    void *(*adapt)(void *handle);
#if CONFIG_DYNSEL_RESOURCE_STATES
    /** Hears each change of a resource's state, see <dynsel/resource_states.h>; NULL: nobody.
     * Called in the thread that makes the change: the one that collects work, or the caller of
     * drain, retire or reinstate; several at once. It must not block, nor call the library but for
     * functions that tell: texts, states, statistics. `change` is borrowed. */
    void (*resource_changed)(const struct dynsel_resource_change *change);
#endif
#if CONFIG_DYNSEL_RESOURCE_SETS
    /** Resources may be added and removed later, see <dynsel/resource_set.h>. Each submit costs two
     * atomic operations more then, and takes a slot, also where all backends work in the caller. */
    bool may_change;
#endif
} dynsel_options;

#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
struct dynsel_slot; /* the library's own */
#endif

/** The operations of a policy. A custom policy fills in the same table as the built-in ones. */
typedef struct dynsel_policy_ops {
    const char *name;

    /** dynsel_execution_info bits that the policy requires. A backend that does not report them is
     * excluded from the default resources, and refused among given ones. */
    uint32_t needs;

    /** Chooses a resource for `task`: fills in selection->index, which dynsel_policy_may_use() must
     * allow, and optionally reason, notes, and in `wants` fewer bits than `needs` has, or
     * DYNSEL_TASK_START_TIME, DYNSEL_TASK_READBACK_TIME and DYNSEL_TASK_WITHOUT_COPIES besides. The
     * library itself reports the first two: starts on backends with `outlives_submit`, copies back
     * of command groups.
     * When selection->claims is set it may count the submission immediately, and then sets
     * DYNSEL_TASK_SUBMISSION in selection->reported: the library does not report it again.
     * DYNSEL_E_AGAIN: no resource is free at the moment. The submitting call returns any other
     * failure. Never blocks.
     * Called from several threads at once with CONFIG_DYNSEL_CONTEXT_THREADS. */
    dynsel_status (*try_select)(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection);

#if CONFIG_DYNSEL_CUSTOM_POLICIES
    /** Optional: a custom submit operation for dynsel_submit(), dynsel_try_submit() and
     * dynsel_submit_and_wait(), called instead of the library's, which selects with try_select and
     * starts the work on the selected resource. They place work with dynsel_submit_selection(), on
     * a selection of try_select or on one that they fill in themselves (policy, index, and wants
     * with the bits of `needs`; all else zero), and pass the submission of their caller to it; an
     * operation that returns DYNSEL_OK without doing so fails the call with DYNSEL_E_INVALID if the
     * caller passed a submission. One of these or try_select is enough, and the library derives the
     * missing operations: dynsel_submit() repeats try_submit while that is DYNSEL_E_AGAIN, and uses
     * try_select only if both are missing; dynsel_submit_for() repeats try_submit, else try_select;
     * dynsel_submit_and_wait() is dynsel_submit() and a wait. A call that cannot be derived fails
     * with DYNSEL_E_UNSUPPORTED. */
    dynsel_status (*submit)(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission);
    dynsel_status (*try_submit)(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission);
    dynsel_status (*submit_and_wait)(dynsel_policy *policy, const dynsel_task *task);
#endif

    /** Receives the reports that selection->wants requests: DYNSEL_TASK_SUBMISSION first, then
     * DYNSEL_TASK_START_TIME if the start succeeded and the work did not run in it, then
     * DYNSEL_TASK_TIME with its value if the work succeeded and was timed, at last
     * DYNSEL_TASK_COMPLETION; or DYNSEL_TASK_WITHDRAWN after a submission that the resource
     * refused. DYNSEL_TASK_READBACK_TIME comes once for each buffer that such work wrote last and
     * that was copied back to the host's memory afterwards: long after the completion, or never;
     * not after dynsel_policy_deinit(). It is omitted where the work did not cause the copy time:
     * where the copy was queued behind other work, where its end was detected late, and where data
     * moved because a policy tried another resource (DYNSEL_REASON_PROFILING or _EXPLORING) or the
     * next run of the same kind was sent elsewhere. A policy that weighs data gets 0 for a copy
     * that was queued behind other work. `selection` is as try_select left it. Never
     * blocks; deinitializes no policy. Several threads at once. Needed when `needs` or a `wants` is
     * not 0. */
    void (*report)(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value);

#if CONFIG_DYNSEL_RESOURCE_SETS
    /** For sets of resources that change: a resource is about to get the place `index` of the
     * table, one past those that there are so far, and cannot be chosen before this returns.
     * A failure refuses it, and nothing was changed. Not called for one that comes back to its
     * place. One call at a time for each policy, beside all other operations. NULL: `may_change` of
     * dynsel_options is DYNSEL_E_UNSUPPORTED for this policy. */
    dynsel_status (*add_resource)(dynsel_policy *policy, uint32_t index);

    /** The resource at `index` can be chosen from now on: it was added, or came back. As
     * add_resource, but NULL: nobody hears it. */
    void (*resource_added)(dynsel_policy *policy, uint32_t index);

    /** The resource at `index` was removed: none of its work is left, all was reported, and
     * dynsel_policy_may_use() is false until it comes back. As resource_added. */
    void (*resource_removed)(dynsel_policy *policy, uint32_t index);
#endif

#if CONFIG_DYNSEL_TRACE
    /** For the trace: whether the policy is still as its init function left it, so that a trace
     * which begins now tells all that it will know. NULL: nobody can tell. */
    bool (*is_new)(const dynsel_policy *policy);
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
    /** try_select gets task->data for command groups; it costs a short lock for each, and time in
     * proportion to the resources and the buffers. */
    bool weighs_data;

    /** try_select predicts when work ends, so that it need not hear of each end before it chooses:
     * where a backend has to be asked for ends, the library asks it before some choices only, and
     * work of which no time is wanted may share its event with later work. */
    bool predicts_ends;

    /** For a policy that sets one of these: whether it gives all work to one resource at the
     * moment. Then try_select gets no task->data, and if `predicts_ends` is set the library asks
     * for no ends before it. A policy may choose another resource all the same, but without data.
     * NULL: it never does. Any thread; constant cost. */
    bool (*is_settled)(const dynsel_policy *policy);
#endif

#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL || CONFIG_DYNSEL_BACKEND_MPI
    /** The policy's own set of default resources excludes the host of backend inline if there are
     * other resources; see dynsel_default_set. For policies that measure no times. */
    bool leaves_out_caller;
#endif

#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Internal: the reports to policies that request them. Pointers, so that a program whose
     * policies request no reports links no code for them. */
    void (*note_step)(struct dynsel_slot *slot);                 /* see its states */
    void (*note_end)(struct dynsel_slot *slot, uint64_t end_ns); /* in dynsel_complete() */
#endif
} dynsel_policy_ops;

/** State of one resource of one policy; internal. */
typedef struct dynsel_queue {
    void *own; /* the handle that the backend uses */
#if CONFIG_DYNSEL_LOSES_RESOURCES
    dynsel_word health; /* consecutive failures, and the state: see src/policy/health.h */
#endif
#if CONFIG_DYNSEL_RESOURCE_SETS
    dynsel_word users; /* work that holds the resource: see src/policy/occupancy.h */
#endif
#if CONFIG_DYNSEL_SHADOW_CHECK
    dynsel_word mismatches; /* results that differed from those of another resource */
#endif
#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    uint32_t last_token;  /* of the work that was accepted last when some was marked last */
    uint64_t last_end_ns; /* its end time; 0: unknown */
#endif
#elif CONFIG_DYNSEL_IN_FLIGHT
    dynsel_word head; /* work in flight, oldest first, as slot numbers */
    dynsel_word tail;
    dynsel_word reaper;   /* one thread at a time removes finished work from the head */
    uint64_t last_end_ns; /* end time of the work removed last; 0: unknown */
    void *unsynchronized; /* newest event that was only polled; its wait makes all earlier results
                             visible */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_word looks; /* before choices: how many are left out until the next one, in the low bits,
                          and how far behind the head that looks */
    uint32_t domain_number;   /* of its memory, as the backend says */
    dynsel_word domain_asked; /* 0: that is not known; 1: it is; 2: and it runs work in order */
#endif
#endif
} dynsel_queue;

#if CONFIG_DYNSEL_STATISTICS
/** Counters of one thread for one resource; internal. */
typedef struct dynsel_counts {
    dynsel_word submitted;
    dynsel_word completed;
    dynsel_word failed;
    dynsel_word unused;
} dynsel_counts;
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
/** Bytes of the ranges of command groups, staged and direct; see dynsel_set_range(). */
typedef struct dynsel_range_bytes {
    uint64_t staged_in;  /**< bytes copied to devices for them */
    uint64_t staged_out; /**< and back */
    uint64_t direct;     /**< bytes used in place, because they are passed directly
                              (<dynsel/passed_directly.h>) */
} dynsel_range_bytes;
#endif

/** The common part of all policies, their first member; only the library looks inside. */
struct dynsel_policy {
    const dynsel_policy_ops *ops;
    const dynsel_policy *self; /* its own address once initialized */
    uint32_t count;            /* resources in the table; it may grow, see src/policy/usable.h */
    uint32_t submit_flags;     /* how work is submitted: see src/policy/usable.h */
#if CONFIG_DYNSEL_LOSES_RESOURCES
    dynsel_word impaired; /* how many resources are not simply in service */
#endif
#if CONFIG_DYNSEL_TRACE
    dynsel_word trace_life;   /* the trace that has its names; 0: it has not chosen in one */
    dynsel_word trace_number; /* its number there */
    uint64_t trace_option;    /* what its init function got beside the resources */
#endif
#if CONFIG_DYNSEL_RESOURCE_STATES
    dynsel_word probations; /* how many began */
    void (*resource_changed)(const struct dynsel_resource_change *change);
#endif
#if CONFIG_DYNSEL_RESOURCE_SETS
    dynsel_word changing;      /* not 0: a thread changes the set of resources */
    dynsel_word state_changes; /* of its resources */
    void *(*adapt)(void *handle);
#endif
    dynsel_word
        life; /* number of this initialization, unlike those before and after; 0: not used yet */
    dynsel_word failed;        /* whether `failure` holds one */
    dynsel_kept_error failure; /* the earliest failure of work without a handle */
#if CONFIG_DYNSEL_ASPECTS
    uint32_t refused; /* default resources whose devices failed verification */
    dynsel_aspect_set aspects[CONFIG_DYNSEL_MAX_RESOURCES];
#endif
    dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    dynsel_queue queues[CONFIG_DYNSEL_MAX_RESOURCES];
#if CONFIG_DYNSEL_STATISTICS
    dynsel_counts counts[CONFIG_DYNSEL_COUNTING_THREADS][CONFIG_DYNSEL_MAX_RESOURCES];
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_range_bytes range_bytes; /* counted under a lock */
#endif
#endif
#if CONFIG_DYNSEL_CONTEXT_THREADS && CONFIG_DYNSEL_IN_FLIGHT
    dynsel_policy *next_listed; /* see src/policy/after_fork.h */
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
 *     backend, or with one that lacks operations; a handle that its backend does not know),
 *     DYNSEL_E_FULL (more than CONFIG_DYNSEL_MAX_RESOURCES), DYNSEL_E_NO_RESOURCE (the default set
 *     is empty), DYNSEL_E_ASPECT (a given resource's device, or all of the default set, lacks an
 *     aspect that this build promises or matches none of its targets: see <dynsel/targets.h>),
 *     DYNSEL_E_UNSUPPORTED (a backend whose work outlives a submit, without
 *     CONFIG_DYNSEL_IN_FLIGHT), and what the backends report. A policy that was zero is zero again
 *     after an error.
 * May block: yes, where a backend looks for devices. Not from interrupts or task functions.
 * Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_init(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                                const dynsel_options *options)
    DYNSEL_TAGGED("dynsel_policy_init");
#endif

/**
 * Ends the use of a policy and zeroes its dynsel_policy, so that it can be initialized again.
 * Selections that were not submitted end with it: later calls refuse them, and their reports are
 * discarded.
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
 * The number of default resources excluded because their devices failed the verification of
 * <dynsel/targets.h>, or because their backend cannot use them (an OpenCL older than 1.2); after
 * the initialization dynsel_last_error() describes the last of them.
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
 * Fails because no resource may be used for `task`; try_select returns this status then.
 *
 * policy, task: not NULL, initialized.
 * Returns: DYNSEL_E_OUT_OF_SERVICE when a suitable resource is out of service, DYNSEL_E_ASPECT when
 *     a resource lacks only aspects (the text names the first missing one), else
 *     DYNSEL_E_UNSUPPORTED; DYNSEL_E_AGAIN when one is on probation and taken, or came meanwhile.
 * Context: any thread.
 * Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_refuse(const dynsel_policy *policy,
                                                  const dynsel_task *task);

/**
 * Why a resource is the only one that may be used for `task`, for policies that found no other:
 * DYNSEL_REASON_ONLY_IN_SERVICE when another suitable resource is out of service,
 * DYNSEL_REASON_ONLY_WITH_ASPECTS when another resource lacks only aspects, else
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
 * DYNSEL_E_DEVICE. A loss counts as soon as the backend detects it, also through work of another
 * policy; the policy itself excludes the resource after the next work that it refuses.
 * <dynsel/resource_states.h> has calls that take one out of service, and tells states apart.
 *
 * Errors: DYNSEL_OK (in service, also on probation), DYNSEL_E_OUT_OF_SERVICE (also while it
 *     drains), DYNSEL_E_INVALID (NULL, a copy, index past the table), DYNSEL_E_UNINITIALIZED.
 * Context: any thread.
 * Cost: constant.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_in_service(const dynsel_policy *policy, size_t index);

/**
 * Puts a resource back into service, with no failures counted. With CONFIG_DYNSEL_RESOURCE_STATES
 * it is on probation: it gets one piece of work at a time until
 * CONFIG_DYNSEL_PROBATION_SUCCESSES of them succeeded, and a device's failure of one takes it out
 * of service again. (Work of backend inline runs in the threads that submit, as many at a time as
 * there are.) A lost device refuses its next work and goes out of service again.
 *
 * Errors: DYNSEL_E_INVALID (it is in service or on probation: nothing was changed; NULL, a copy,
 *     index past the table), DYNSEL_E_UNINITIALIZED.
 * Context: any thread.
 * Cost: constant.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_reinstate(dynsel_policy *policy, size_t index);

DYNSEL_END_DECLS

#endif
