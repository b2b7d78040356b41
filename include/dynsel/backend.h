/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backends: how work is started, watched and waited for on one kind of resource.
 *
 * Programs that only use the library need this header for nothing but the type. To write a backend,
 * make a `dynsel_backend` the first member of your own structure, fill in the operations, and put
 * its address into your resources: the built-in backends use nothing else. doc/backends.md shows
 * the shortest one, for resources of any type with their own poll and wait (the generic backend of
 * the specification).
 *
 * Source: seed 002, "Backends"; seed 004.
 */
#ifndef DYNSEL_BACKEND_H
#define DYNSEL_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/device.h>
#include <dynsel/error.h>
#include <dynsel/execution_info.h>
#include <dynsel/resource.h>
#include <dynsel/task.h>

DYNSEL_BEGIN_DECLS

/** One piece of work between the core and a backend. The core owns it; it stays where it is until
 * `release`. */
typedef struct dynsel_work {
    const dynsel_resource *where; /**< as the program gave it; passed to the task function */
    void *own;      /**< the backend's handle: that of the resource, or the result of `adapt` */
    uint32_t token; /**< for dynsel_complete(), where work goes on after `start`; else 0 */
    uint8_t wants;  /**< dynsel_execution_info bits: what to report, and how; measure only these */
    bool began;     /**< set by a backend that wrote the actual start time into ready_ns */
#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    bool over; /**< set by `start`: the work has succeeded, although it left an event */
#endif
#if CONFIG_DYNSEL_REPEAT
    uint8_t run; /**< the library's own */
#endif
#if CONFIG_DYNSEL_RESOURCE_SETS
    bool holds; /**< the library's own */
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    bool quiet;  /**< the library's own */
    bool waited; /**< the library's own */
#endif
    uint32_t queue_tail; /**< the library's own */
    dynsel_event done;   /**< set by the task function or by the backend; all zero before */
    uint64_t ended_ns;   /**< when it was complete; 0: not known (yet) */
    /** error.status: what the task function returned; the rest counts only when it failed. */
    dynsel_kept_error error;
    dynsel_task_fn function;
    void *args;
    uint64_t ready_ns; /**< when the work was accepted, if DYNSEL_TASK_TIME is wanted */
} dynsel_work;

/** The most works that `poll_ended` of a backend is asked about. */
enum { DYNSEL_MOST_ENDED = 32 };

#if CONFIG_DYNSEL_TRACE
/** When a device ran work. */
typedef struct dynsel_device_run {
    uint64_t begin_ns; /**< on the clock of dynsel_now_ns() */
    uint64_t took_ns;
    uint32_t error_ns; /**< by how much begin_ns may be wrong, because the clocks differ */
} dynsel_device_run;
#endif

/** The operations of a backend: a static table. */
typedef struct dynsel_backend_ops {
    const char *name;

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    /** dynsel_execution_info bits that this backend can report: 0 for a backend that only starts
     * and waits. Submission and completion are reported by the core; time too for work that
     * is complete when `start` returns, else from the `end_ns` of dynsel_complete(). */
    uint32_t reports;

#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** The nanoseconds by which a piece of work takes longer when DYNSEL_TASK_TIME is wanted:
     * auto_tune times short work so rarely that this stays below 2 percent, but at least one run in
     * 128. 0: next to nothing. */
    uint32_t timing_ns;
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    /** Where DYNSEL_TASK_WITHOUT_COPIES is wanted, the times that it reports are of runs alone.
     * False: earliest_finish takes predicted copies out of them, where they are longer than a run.
     */
    bool times_runs_alone;

    /** What the first start of a kind of work on a resource may take of the caller's time in
     * addition, because something is compiled, in ns: earliest_finish tries a resource for a kind
     * only when 5 percent of the kind's runs elsewhere pay for that, and learns what it really
     * takes. 0: nothing is compiled. */
    uint32_t first_start_ns;

    /** Predicts how many nanoseconds the task will run on a resource without other work, for
     * earliest_finish, as long as it has no times of this kind of task there; 0: not known. Never
     * blocks; several threads at once. NULL: it predicts nothing. */
    uint64_t (*predict)(struct dynsel_backend *backend, const void *own, const dynsel_task *task);
#endif

    /** Work may go on after `start` has returned. Then `poll`, `wait` and `release` are needed, or
     * marks_completion, and so is CONFIG_DYNSEL_IN_FLIGHT. False: `start` returns when the work is
     * complete. */
    bool outlives_submit;

    /** `start` does nothing but dynsel_work_call(), so the core may call the task function itself.
     */
    bool only_calls;

    /** The backend always reports completion of accepted work with dynsel_complete(), so that
     * `poll` and `wait` are not needed (if they exist, their status is final).
     * False: the work is complete when done.native is NULL after `start`. With
     * CONFIG_DYNSEL_IN_FLIGHT_SMALL it must be true of work that outlives its submit, and there is
     * no `poll` and no `wait`. */
    bool marks_completion;

    /** When `poll` reports completion, the results of the work are visible to the caller. False:
     * only `wait` makes them visible, and waiting for a submission does so for all earlier work on
     * the same resource too. */
    bool poll_synchronizes;
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
    /** Work on one resource runs in the order in which it was started; for backends without
     * `memory` (see dynsel_domain). */
    bool in_order;
#endif

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    /** The default resources of this backend, in a fixed order. resources, capacity: the output
     * table. count: out, their number, even if that exceeds the capacity. May be NULL: it offers
     * none. Returns DYNSEL_OK also when there are none, or DYNSEL_E_NO_RESOURCE with a reason and
     * `count` 0: the initialization of the policy returns it if no other backend has resources. May
     * block; called from `*_init`. */
    dynsel_status (*get_default_resources)(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count);
#endif

    /** A display name, see dynsel_resource_name(). `handle` may be anything. May be NULL. */
    const char *(*resource_name)(dynsel_backend *backend, const void *handle);

#if CONFIG_DYNSEL_ASPECTS
    /** Describes the device behind a handle: fills in the known fields of `device`, which is
     * initialized with the names of the backend and the resource, otherwise empty texts, and no
     * aspects. `handle` may be anything; an unknown one is a failure. Never queries a driver twice.
     * May be NULL: a device that has no aspects, and is recognized by the backend's name alone. */
    dynsel_status (*describe)(dynsel_backend *backend, const void *handle, dynsel_device *device);
#endif

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    /** A policy begins to use a resource; called once for each entry of its table. A failure fails
     * the policy's initialization; but with DYNSEL_E_UNSUPPORTED a default resource is excluded,
     * and counted by dynsel_refused_count() (not with CONFIG_DYNSEL_IN_FLIGHT_SMALL). May be NULL.
     * May block. */
    dynsel_status (*attach)(dynsel_backend *backend, void *own);

    /** The counterpart of a successful `attach`. No work of that policy is left. May be NULL. */
    void (*detach)(dynsel_backend *backend, void *own);
#endif

#if !CONFIG_DYNSEL_SUBMITS_IN_CALLER
    /** Starts the work: calls dynsel_work_call(), directly or later in another thread. DYNSEL_OK:
     * it was started, and it is complete exactly when work->done.native is NULL, or when this call
     * set work->over (unless marks_completion). Any other status: nothing was started, the task
     * function was not and will not be called; DYNSEL_E_OUT_OF_SERVICE makes the policy choose
     * again (but with CONFIG_DYNSEL_IN_FLIGHT_SMALL and CONFIG_DYNSEL_MAX_FAILURES=0, where the
     * submitting call returns it), and so does DYNSEL_E_AGAIN (full at the moment) where the submit
     * may wait. Any thread, several at once. */
    dynsel_status (*start)(dynsel_backend *backend, dynsel_work *work);
#endif

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Polls without waiting: DYNSEL_E_AGAIN while the work is running, DYNSEL_OK when it
     * completed, else its failure (details through dynsel_fail()). Work has to end, and repeated
     * polls have to see that end, without `wait`: while command groups are pending, the library
     * polls all work and starts what is ready, in place of a `wait` for one end. If the state
     * cannot be read, return DYNSEL_E_AGAIN: any other status ends the work, and its memory is used
     * again. So a backend that cannot read the state for a long time gives the device up. Several
     * threads at once, also beside `wait`. */
    dynsel_status (*poll)(dynsel_backend *backend, const dynsel_work *work);

    /** Blocks until the work is complete; returns as `poll` does, never DYNSEL_E_AGAIN. Called
     * when the program waits and no other command group is pending. */
    dynsel_status (*wait)(dynsel_backend *backend, const dynsel_work *work);
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS && CONFIG_DYNSEL_IN_FLIGHT && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Asks at once about several command groups of one resource, started one after the other,
     * whose end follows from that of later work. DYNSEL_OK: all of them succeeded, and their
     * results are visible. Any other status says nothing, and each is polled. It may wait for what
     * ends by itself in a moment. count: 2 to DYNSEL_MOST_ENDED. Several threads at once. NULL:
     * each is polled. */
    dynsel_status (*poll_ended)(dynsel_backend *backend, const dynsel_work *const *works,
                                size_t count);
#endif

#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Tells how long work took for which DYNSEL_TASK_TIME is wanted: called once, when `poll` or
     * `wait` has reported its end, however it ended, before `release`; not for work of a resource
     * that was given up. Where the backend knows the
     * time better than by `end_ns` of dynsel_complete() or by when the end was seen, it writes
     * ready_ns, ended_ns and `began`; ended_ns 0 drops the time. Must not block. NULL: it does not
     * know. */
    void (*measure)(dynsel_backend *backend, dynsel_work *work);
#endif

#if CONFIG_DYNSEL_TRACE
    /** When work ran, by the device's own clock, for the trace: called at most once, when its end
     * was reported, before `release`. Writes `run`, and returns true if it knows. Must not block.
     * NULL: it does not know. */
    bool (*tell_run)(dynsel_backend *backend, const dynsel_work *work, dynsel_device_run *run);
#endif

    /** Releases work->done.native; called exactly once for work with an event, when no poll or wait
     * is running any more. It may be called before the holder of a handle collects the status.
     * NULL: the program owns the events, and they stay valid. */
    void (*release)(dynsel_backend *backend, dynsel_work *work);

#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Takes a reference to work->done.native that the caller of dynsel_wait_and_unwrap() owns and
     * releases; `release` still releases the library's reference. False: it cannot. NULL: events of
     * this backend have no reference count, and a waiting caller gets no event that `release`
     * releases. Any thread, several at once. (With CONFIG_DYNSEL_IN_FLIGHT_SMALL that caller gets
     * the library's own reference, and `release` is not called.) */
    bool (*retain)(dynsel_backend *backend, const dynsel_work *work);

    /** Takes back started work that has not begun, for dynsel_cancel() and when the resource is
     * given up. True: its task function was not called and will not be; the library completes the
     * work. False: it has begun, or is complete. Any thread, several at once. NULL: what is started
     * begins. */
    bool (*cancel)(dynsel_backend *backend, dynsel_work *work);

#if CONFIG_DYNSEL_TIME_LIMITS
    /** A policy gives the resource up, because it does not end its work. Never blocks. From now on
     * the library asks nothing of this policy's work there: neither `poll` nor `wait`, but
     * `release`, which must not block on it either; `is_lost` of the memory operations is true if
     * that memory cannot be reached any more. Otherwise the library calls none of
     * them any more for the copies and staging memory of this work, and `release` neither for what
     * else it uses: where the work does not run any more, free that here if it is worth it.
     * NULL: with marks_completion nothing has to be done;
     * without, the resource cannot be given up and stays suspect.
     *
     * With marks_completion the work stays where it is until the backend calls dynsel_complete()
     * for it, however late, which is DYNSEL_E_STALE then and lets the library use its slot again;
     * work that `cancel` takes back is free at once. */
    void (*give_up)(dynsel_backend *backend, void *own);
#endif

    /** Whether the backend knows that the device is lost, so that it would refuse its next work
     * with DYNSEL_E_OUT_OF_SERVICE. For dynsel_resource_in_service(). Never queries a driver, never
     * blocks; any thread. NULL: the next work detects the loss. */
    bool (*is_lost)(dynsel_backend *backend, const void *own);
#endif
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
    /** Memory operations; see <dynsel/memory.h>. NULL: the backend works in the host's memory. */
    const struct dynsel_memory_ops *memory;
#endif
} dynsel_backend_ops;

/** A backend: the first member of the structure that holds its state. */
struct dynsel_backend {
    const dynsel_backend_ops *ops;
};

/**
 * Calls work->function in the calling thread and stores its status, with the details, in
 * work->error. For the `start` operation of backends.
 *
 * Errors: none of its own. May block as the task function does.
 * Cost: one indirect call.
 */
void dynsel_work_call(dynsel_work *work);

/**
 * Marks work as complete: the one function that interrupts and drivers' callbacks may call.
 *
 * token: work->token; the call may come during `start` already, or too late.
 * end_ns: the clock of dynsel_now_ns() when the work ended; 0: unknown. It is of use also where the
 *     work's own time is not wanted: timed work that waited behind it has a time only then, unless
 *     the backend says when that began.
 * status: the result, DYNSEL_OK or a failure; only the status is passed on, without details.
 * Returns: DYNSEL_OK, or DYNSEL_E_STALE when that work was complete already: nothing was changed
 *     then. Leaves no last error. Without CONFIG_DYNSEL_IN_FLIGHT always DYNSEL_E_STALE.
 * May block: no.
 * Context: any, interrupts and callbacks of drivers as well.
 * Cost: three compare-and-swaps, with CONFIG_DYNSEL_IN_FLIGHT_SMALL one critical section; wakes
 *     sleeping threads. Policies get the report when a later call of the library polls.
 */
dynsel_status dynsel_complete(uint32_t token, dynsel_status status, uint64_t end_ns);

/**
 * The library's clock: nanoseconds that never go back, from an arbitrary start, never 0.
 *
 * Context: any, interrupts too.
 * Cost: one read of the clock.
 */
uint64_t dynsel_now_ns(void);

DYNSEL_END_DECLS

#endif
