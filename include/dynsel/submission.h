/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Submissions: work that a policy placed, and waiting for it.
 *
 * The status of a submitting call says only whether the work was accepted: dynsel_wait() or
 * dynsel_wait_group() returns the status of the task function, the same on every backend. A
 * call that fails had no effect: the task function was not called and will not be.
 *
 * A handle (not NULL) requires exactly one dynsel_wait() or dynsel_submission_release() and holds
 * its slot in the table of submissions in flight until then. Work without a handle (NULL) is
 * detached: its slot becomes free when the work is complete, and a failure goes to the submission
 * group.
 *
 * Where all backends of a policy complete their work before the submitting call returns, the work
 * needs no slot; but with CONFIG_DYNSEL_IN_FLIGHT_SMALL all work has one.
 *
 * Source: seed 002, "Submission" and "Free Functions"; seed 004, "Using policy_base".
 */
#ifndef DYNSEL_SUBMISSION_H
#define DYNSEL_SUBMISSION_H

#include <stdint.h>

#include <dynsel/error.h>
#include <dynsel/policy.h>
#include <dynsel/selection.h>
#include <dynsel/task.h>
#include <dynsel/word.h>

DYNSEL_BEGIN_DECLS

/** A handle. The caller's memory, filled in by the submitting call; it may be copied, but only one
 * copy collects. */
struct dynsel_submission {
    dynsel_policy *policy;
    dynsel_word
        slot;       /* where the work is kept; or that it was complete at once, or was collected */
    uint32_t index; /* of the chosen resource */
    dynsel_reason reason; /* why it was chosen */
    uint32_t generation;  /* tells this use of the slot from later ones */
#if CONFIG_DYNSEL_TRACE
    uint32_t piece; /* of work that was complete at once */
#endif
    dynsel_event done; /* what the task function left; of work that was complete at once, or was
                          waited for */
    dynsel_kept_error error; /* how work that was complete at once ended */
};

/**
 * Chooses a resource and starts the task there; waits for a free slot, or until the policy has a
 * resource, if it must.
 *
 * policy: initialized.
 * task: borrowed during the call; what task->args points to must outlive the work.
 * submission: out, unchanged on failure; NULL: detached work.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy, a task without any function),
 *     DYNSEL_E_UNINITIALIZED, DYNSEL_E_FULL (every slot holds finished work that was not collected,
 *     or command groups that wait for host accessors that this thread has open: waiting would
 *     deadlock; also inside a task function when no slot is free),
 *     DYNSEL_E_AGAIN (inside a task function: a custom policy has nothing free),
 *     DYNSEL_E_UNSUPPORTED (no resource that may be chosen has a form of the task),
 *     DYNSEL_E_OUT_OF_SERVICE (those with a form are out of service), and the status of a backend
 *     that cannot start the work.
 * May block: yes, without a bound, while CONFIG_DYNSEL_MAX_IN_FLIGHT pieces of work are running;
 *     and as long as the task function takes.
 * Context: any thread, task functions; not interrupts.
 * Cost: that of the policy, plus three indirect calls; with a backend whose work outlives the call,
 *     one claimed slot (looks at no more than CONFIG_DYNSEL_MAX_IN_FLIGHT of them; with
 *     CONFIG_DYNSEL_IN_FLIGHT_SMALL at all of them, where work has ended since the last call).
 *     Lock-free except for the task function and the backend.
 */
DYNSEL_CHECKED dynsel_status dynsel_submit(dynsel_policy *policy, const dynsel_task *task,
                                           dynsel_submission *submission);

/**
 * dynsel_submit() that waits neither for a slot nor for a resource.
 *
 * Errors: those of dynsel_submit(), but DYNSEL_E_FULL as soon as no slot is free, and
 *     DYNSEL_E_AGAIN when the policy has no resource at the moment.
 * May block: only in the task function itself.
 */
DYNSEL_CHECKED dynsel_status dynsel_try_submit(dynsel_policy *policy, const dynsel_task *task,
                                               dynsel_submission *submission);

/**
 * dynsel_submit() that gives up after a time.
 *
 * timeout_ns: nanoseconds from now on, for waiting; the task function itself is not bounded.
 * Errors: those of dynsel_submit(), and DYNSEL_E_TIMEOUT when neither a slot nor a resource was
 *     free in time.
 */
DYNSEL_CHECKED dynsel_status dynsel_submit_for(dynsel_policy *policy, const dynsel_task *task,
                                               dynsel_submission *submission, uint64_t timeout_ns);

/**
 * dynsel_submit(), then dynsel_wait().
 *
 * Returns: a failure to submit as dynsel_submit() does, else the status of the work;
 *     DYNSEL_E_IN_TASK inside a task function or group function, and then nothing was
 *     submitted.
 * May block: yes.
 */
DYNSEL_CHECKED dynsel_status dynsel_submit_and_wait(dynsel_policy *policy, const dynsel_task *task);

/**
 * Starts the task on the resource of a selection, and consumes the selection. The policy is not
 * asked again.
 *
 * selection: of dynsel_select(); unchanged on failure, so that it can be tried again.
 * Errors: those of dynsel_submit(), and DYNSEL_E_STALE for a selection that was consumed,
 *     DYNSEL_E_INVALID when its policy was deinitialized and initialized again since,
 *     DYNSEL_E_UNSUPPORTED when the task has no form for that resource, DYNSEL_E_OUT_OF_SERVICE
 *     when it is out of service.
 */
DYNSEL_CHECKED dynsel_status dynsel_submit_selection(dynsel_selection *selection,
                                                     const dynsel_task *task,
                                                     dynsel_submission *submission);

/**
 * dynsel_submit_selection() that waits neither for a slot nor for the resource.
 *
 * Errors: those of dynsel_submit_selection(), but DYNSEL_E_FULL as soon as no slot is free, and
 *     DYNSEL_E_AGAIN when the resource takes no more work at the moment.
 * May block: only in the task function itself.
 */
DYNSEL_CHECKED dynsel_status dynsel_try_submit_selection(dynsel_selection *selection,
                                                         const dynsel_task *task,
                                                         dynsel_submission *submission);

/** dynsel_submit_selection(), then dynsel_wait(); returns as dynsel_submit_and_wait() does. */
DYNSEL_CHECKED dynsel_status dynsel_submit_selection_and_wait(dynsel_selection *selection,
                                                              const dynsel_task *task);

/**
 * Waits until the work is complete, and collects it: its slot is free afterwards. Results are
 * visible to the caller. A command group that has not been started waits for what it depends on;
 * the call starts what it can meanwhile, other command groups too.
 *
 * The value of the task function stays in the handle, for dynsel_submission_unwrap(); its event is
 * released, unless dynsel_wait_and_unwrap() returns it.
 *
 * submission: of a submitting call; written to. Threads that are already waiting for the same
 *     submission all get its status, and it must stay until all of these calls have returned; every
 *     later wait is DYNSEL_E_STALE, through a copy as well where the work had a slot (until that
 *     was reused half a million times).
 * Returns: DYNSEL_OK or the status of the work, details in dynsel_last_error(): the task
 *     function's own status, DYNSEL_E_DEVICE or DYNSEL_E_GIVEN_UP. Of the call itself:
 *     DYNSEL_E_INVALID (NULL or never submitted), DYNSEL_E_STALE, DYNSEL_E_IN_TASK (inside a task
 *     function or group function), DYNSEL_E_BUSY (a command group that waits for a host accessor
 *     that this thread has open: waiting would deadlock); nothing was collected then.
 * May block: yes, without a bound. Where a device does not report the state of its work, until the
 *     state is known or the device is given up; see <dynsel/opencl.h>, "Failures".
 * Context: any thread.
 * Cost: one wait of the backend. While command groups are pending, a poll of all work with pauses
 *     of at most 0.1 ms in between, so that ready ones start on every device. Where the backend
 *     reports completion with dynsel_complete(), a sleep until then, on hosts after 50 us in which
 *     it looks and yields its processor, with a check every CONFIG_DYNSEL_LONGEST_SLEEP_MS.
 */
DYNSEL_CHECKED dynsel_status dynsel_wait(dynsel_submission *submission);

/**
 * dynsel_wait() that also returns the event and the value of the task function to the caller.
 *
 * done: out, of work that was waited for, however it ended. The caller owns the event from then on
 *     and releases it through the backend's own interface (clReleaseEvent() for OpenCL); each of
 *     several waiting threads gets its own reference. NULL when the task function set none, where
 *     the device was lost or refuses the reference, and from a backend that can release
 *     events but not retain them (see `retain` in <dynsel/backend.h>). The value is the one that
 *     the task function set, also in a worker's thread.
 * Errors: those of dynsel_wait(), and DYNSEL_E_INVALID when `done` is NULL.
 */
DYNSEL_CHECKED dynsel_status dynsel_wait_and_unwrap(dynsel_submission *submission,
                                                    dynsel_event *done);

/**
 * dynsel_wait() that gives up after a time; then the submission is as it was, and can be waited for
 * again.
 *
 * timeout_ns: nanoseconds from now on; 0 checks once.
 * Errors: those of dynsel_wait(), and DYNSEL_E_TIMEOUT.
 * May block: as long as `timeout_ns`, and what one sleep of the port takes longer (100 us); and as
 *     long as the functions of command groups take that the call itself starts.
 * Cost: polls repeatedly where the backend does not mark completion.
 */
DYNSEL_CHECKED dynsel_status dynsel_wait_for(dynsel_submission *submission, uint64_t timeout_ns);

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
/**
 * Whether the work is complete: looks once, and collects nothing. dynsel_wait() afterwards returns
 * at once where this returned DYNSEL_OK. Starts the command groups that are ready, as dynsel_wait()
 * does, so that a loop of polls comes to an end.
 *
 * Returns: DYNSEL_OK (complete, however the work ended), DYNSEL_E_AGAIN (not yet; leaves no last
 *     error). Of the call itself: DYNSEL_E_INVALID (NULL or never submitted), DYNSEL_E_STALE.
 * May block: no, but starting command groups takes as long as in a submit.
 * Context: any thread, task functions, where it starts nothing; not interrupts.
 * Cost: one poll of the backend, none once the work is known to be complete; for a pending command
 *     group that of dynsel_progress().
 */
DYNSEL_CHECKED dynsel_status dynsel_submission_poll(const dynsel_submission *submission);
#endif

/**
 * Releases a submission without waiting: the work becomes detached, and a failure goes to the
 * submission group. The work continues, and a pending command group is started when its
 * dependencies are complete. The failure of direct work is dropped when its policy was
 * deinitialized since (where all
 * backends are inline and CONFIG_DYNSEL_CUSTOM_BACKENDS is off, release it before that).
 *
 * Errors: DYNSEL_E_INVALID (NULL or never submitted), DYNSEL_E_STALE.
 * May block: no.
 * Context: any thread, task functions.
 */
DYNSEL_CHECKED dynsel_status dynsel_submission_release(dynsel_submission *submission);

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
/**
 * Cancels work that has not started: its function is never called, and its submission ends with
 * DYNSEL_E_CANCELLED. Work has not started while it is in a worker's queue, in that of a backend
 * with a `cancel` operation, or while it is a pending command group. Such a command group ends when
 * what it depends on is complete, its buffers keep their contents, and command groups that read
 * what it was to write end with DYNSEL_E_DEPENDENCY; if work that it depends on failed before, it
 * ends with that failure.
 *
 * submission: still requires dynsel_wait() or dynsel_submission_release(); after a release the
 *     group gets the failure.
 * Errors: DYNSEL_E_BUSY (it has started, or it is complete), DYNSEL_E_STALE (it was cancelled
 *     before, it will end without a start anyway, or the submission was waited for or released),
 *     DYNSEL_E_INVALID (NULL or never submitted). Nothing was changed then.
 * May block: no, but starts command groups that are ready, as dynsel_progress() does.
 * Context: any thread, task functions; not interrupts.
 * Cost: linear in the queue of the worker; for a command group a lock and a look at those that wait
 *     for it. Statistics count the work as failed, except for a command group.
 */
DYNSEL_CHECKED dynsel_status dynsel_cancel(dynsel_submission *submission);
#endif

/**
 * The `done` of the task function: the backend's own event and the value. Before the wait the work
 * may still be running; all zero while it is, where the backend marks its completion (workers,
 * interrupts), and for a pending command group. After the wait, through the handle that was waited
 * for and any number of times: the value, and the event if the backend has no `release`, so that it
 * was not released; NULL in place of any other event, which only dynsel_wait_and_unwrap() returns.
 *
 * done: out. Before the wait the event is borrowed, until the submission is waited for or released;
 *     retain it to keep it longer. For OpenCL, dynsel_opencl_submission_event() does so.
 * Errors: DYNSEL_E_INVALID (NULL or never submitted), DYNSEL_E_STALE (released, or waited for
 *     through a copy).
 * May block: no.
 * Context: any thread.
 * Cost: constant.
 */
DYNSEL_CHECKED dynsel_status dynsel_submission_unwrap(const dynsel_submission *submission,
                                                      dynsel_event *done);

/**
 * The resource on which the work was placed: one of dynsel_get_resources(). For a command group,
 * the resource selected at submission, also when that resource went out of service before the
 * start.
 *
 * Returns: borrowed from the policy; NULL for NULL, for a handle that was never submitted, and when
 *     the policy is no longer initialized.
 * Context: any thread.
 * Cost: constant.
 */
const dynsel_resource *dynsel_submission_resource(const dynsel_submission *submission);

/** The reason for the placement; DYNSEL_REASON_UNKNOWN for NULL. Context: any thread. Cost:
 * constant. */
dynsel_reason dynsel_submission_reason(const dynsel_submission *submission);

/** The policy that placed the work; NULL for NULL. Context: any. Cost: constant. */
dynsel_policy *dynsel_submission_policy(const dynsel_submission *submission);

#if CONFIG_DYNSEL_RESERVED_SLOTS
/**
 * Reserves slots of the table of submissions in flight for one policy: other policies do not get
 * them, however much work of theirs is running or hangs. The policy uses these and those that are
 * not reserved.
 *
 * count: how many slots shall be reserved for the policy from now on, in place of the number of an
 *     earlier call; 0 reserves none. dynsel_policy_deinit() gives them back.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy), DYNSEL_E_UNINITIALIZED, DYNSEL_E_UNSUPPORTED
 *     (no work of this policy needs a slot), DYNSEL_E_FULL (fewer slots are free and not reserved,
 *     with the one that stays for all policies; nothing was changed).
 * May block: no.
 * Context: any thread, but not beside another such call for the same policy; task functions; not
 *     interrupts.
 * Cost: linear in CONFIG_DYNSEL_MAX_IN_FLIGHT times `count`.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_reserve_slots(dynsel_policy *policy, uint32_t count);
#endif

/** A submission group: all work of one policy, or of one backend. A value that may be copied. */
typedef struct dynsel_submission_group {
    dynsel_policy *policy;
    dynsel_backend *backend;
} dynsel_submission_group;

/** The group of a policy's submissions. Errors: none here, a wrong policy shows in
 *  dynsel_wait_group(). */
dynsel_submission_group dynsel_get_submission_group(dynsel_policy *policy);

/** The group of everything that runs on a backend, whichever policies placed it. Waiting for it
 * returns no failures of work: they stay with the policies and the submissions. */
dynsel_submission_group dynsel_get_backend_submission_group(dynsel_backend *backend);

/**
 * Waits for all work that this policy had accepted before the call, command groups that are not yet
 * started too; not for other work on the same devices.
 *
 * Returns: DYNSEL_OK, or the earliest known failure of detached work, which is cleared
 *     (details in dynsel_last_error()); work with a submission keeps its status for its owner. Of
 *     the call itself: DYNSEL_E_INVALID (NULL, a copied policy), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_IN_TASK, DYNSEL_E_BUSY (as dynsel_wait(); there may be work then that was not waited
 *     for).
 * May block: yes, without a bound.
 * Context: any thread.
 * Cost: about one wait of the backend for each resource with work; while command groups are
 *     pending, as dynsel_wait().
 */
DYNSEL_CHECKED dynsel_status dynsel_wait_group(dynsel_submission_group group);

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
/**
 * dynsel_wait_group() that gives up after a time; then the group can be waited for again, and a
 * failure of detached work is still kept.
 *
 * timeout_ns: nanoseconds from now on; 0 looks once.
 * Errors: those of dynsel_wait_group(), and DYNSEL_E_TIMEOUT: work of the group goes on.
 * May block: as long as `timeout_ns`, and what one sleep of the port takes longer (100 us); as long
 *     as the functions of command groups take that the call itself starts; and as long as a backend
 *     whose `poll` does not synchronize needs for the results of work that is complete.
 * Cost: polls repeatedly where the backend does not mark completion.
 */
DYNSEL_CHECKED dynsel_status dynsel_wait_group_for(dynsel_submission_group group,
                                                   uint64_t timeout_ns);
#endif

/**
 * Polls the oldest work of every resource of every policy once, frees the slots of finished work,
 * and reports to the policies; then starts the command groups that are ready. Every submit and wait
 * does so where necessary; call it to get reports and failures or to start command groups earlier,
 * as from a super-loop.
 *
 * Errors: none.
 * May block: no, but starting work takes as long as in a submit: a task function that runs in the
 *     caller, a wait for a device that copies data.
 * Context: any thread; task functions, where it starts nothing; not interrupts.
 * Cost: bounded by CONFIG_DYNSEL_MAX_IN_FLIGHT, however much work completes meanwhile: a check of
 *     that many slots (seven instructions for one that is free), one poll for each piece of work
 *     that is finished, and two at most for each resource with work that is not. Of the pending
 *     command groups, a check of each of which a dependency completed since, in the order of their
 *     submission (some steps more for each doubling of their number); of one for each resource that
 *     accepts no more work at the moment; and of each whose policy had no free resource after it
 *     had lost one. One poll for each buffer whose data are being copied to the host and waited
 *     for. The other pending command groups cost nothing, however many there are.
 */
void dynsel_progress(void);

DYNSEL_END_DECLS

#endif
