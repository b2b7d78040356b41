/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backends: how work is started, watched and waited for on one kind of resource.
 *
 * Programs that only use the library need this header for nothing but the type. To write a backend,
 * put a `dynsel_backend` first into a structure of your own, fill in the operations, and give its
 * address in your resources: the built-in backends use nothing else. doc/backends.md shows the
 * shortest, for resources of any type with their own poll and wait (the seed's generic backend).
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
    const dynsel_resource *where; /**< as the user gave it: what the task function gets */
    void *own; /**< as the backend knows it: the resource's handle, or what `adapt` made of it */
    dynsel_task_fn function;
    void *args;
    uint32_t token; /**< for dynsel_complete(), where work goes on after `start`; else 0 */
    uint8_t wants;  /**< dynsel_execution_info bits that are to be reported: measure only then */
    bool began;     /**< set by a backend that wrote into ready_ns when the work really began */
    uint32_t lane_tail; /**< the library's own */
    uint64_t ready_ns;  /**< when the work was accepted, if DYNSEL_TASK_TIME is wanted */
    uint64_t ended_ns;  /**< when it was complete; 0: not known (yet) */
    dynsel_event done;  /**< set by the task function or by the backend; all zero before */
    /** error.status: what the task function returned; the rest counts only when it failed. */
    dynsel_kept_error error;
} dynsel_work;

typedef struct dynsel_backend_ops {
    const char *name;

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    /** dynsel_execution_info bits that policies can have from this backend: 0 for one that only
     * starts and waits. Submission and completion are reported by the core; time too for work that
     * is complete when `start` returns, else from the `end_ns` of dynsel_complete(). */
    uint32_t reports;

    /** Work may go on after `start` has returned. Then `poll`, `wait` and `release` are needed, or
     * marks_completion, and so is CONFIG_DYNSEL_IN_FLIGHT. False: `start` returns when the work is
     * done. */
    bool outlives_submit;

    /** `start` does nothing but dynsel_work_call(), so the core may call the task function itself.
     */
    bool only_calls;

    /** The end of work that `start` accepted is always told with dynsel_complete(), so that `poll`
     * and `wait` are not needed (when they are there, they have the last word on how it ended).
     * False: the work is complete when done.native is NULL after `start`. With
     * CONFIG_DYNSEL_IN_FLIGHT_SMALL it must be true of work that outlives its submit, and there is
     * no `poll` and no `wait`. */
    bool marks_completion;

    /** When `poll` says complete, everything that the work wrote can be seen by the caller. False:
     * only `wait` makes it so, and waiting for a piece of work does it for all earlier work on the
     * same resource too. */
    bool poll_synchronizes;

    /** The resources that this backend offers when a policy is given none, in an order that stays
     * the same. resources, capacity: where to put them. count: out, how many there are, even when
     * that is more than fit. May be NULL: it offers none. Returns DYNSEL_OK also when there are
     * none, or DYNSEL_E_NO_RESOURCE to say why, with `count` 0: who initializes the policy is told
     * where no other backend has any. May block; called from `*_init`. */
    dynsel_status (*get_default_resources)(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count);
#endif

    /** A name for people, see dynsel_resource_name(). `handle` may be anything. May be NULL. */
    const char *(*resource_name)(dynsel_backend *backend, const void *handle);

#if CONFIG_DYNSEL_ASPECTS
    /** What the device behind a handle is and can do: fills in what it knows of `device`, which
     * comes with the backend's and the resource's names, otherwise empty texts, and no aspects.
     * `handle` may be anything; one that is not known is a failure. Never asks a driver twice. May
     * be NULL: a device that has no aspects, and is recognized by the backend's name alone. */
    dynsel_status (*describe)(dynsel_backend *backend, const void *handle, dynsel_device *device);
#endif

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    /** A policy begins to use a resource; called once for each entry of its table. A failure fails
     * the policy's initialization; but with DYNSEL_E_UNSUPPORTED a default resource is left out,
     * and counted by dynsel_refused_count() (not with CONFIG_DYNSEL_IN_FLIGHT_SMALL). May be NULL.
     * May block. */
    dynsel_status (*attach)(dynsel_backend *backend, void *own);

    /** The counterpart of a successful `attach`. No work of that policy is left. May be NULL. */
    void (*detach)(dynsel_backend *backend, void *own);
#endif

#if !CONFIG_DYNSEL_SUBMITS_IN_CALLER
    /** Starts the work: calls dynsel_work_call(), at once or later in another thread. DYNSEL_OK: it
     * was started, and it is complete exactly when work->done.native is NULL (unless
     * marks_completion). Any other status: nothing was started, the task function was not and will
     * not be called; DYNSEL_E_OUT_OF_SERVICE makes the policy choose again (but with
     * CONFIG_DYNSEL_IN_FLIGHT_SMALL, where who submits gets it), DYNSEL_E_AGAIN (full at the
     * moment) too where the submit may wait. Any thread, several at once. */
    dynsel_status (*start)(dynsel_backend *backend, dynsel_work *work);
#endif

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Looks, without waiting: DYNSEL_E_AGAIN while the work goes on, DYNSEL_OK when it completed,
     * else why it failed (details through dynsel_fail()). Where its state cannot be read, it goes
     * on: whatever else is answered ends the work, and its memory is used again. So a backend that
     * cannot read it for long gives the device up. Several threads at once, also beside `wait`. */
    dynsel_status (*poll)(dynsel_backend *backend, const dynsel_work *work);

    /** Blocks until the work is complete; returns as `poll` does, never DYNSEL_E_AGAIN. */
    dynsel_status (*wait)(dynsel_backend *backend, const dynsel_work *work);
#endif

    /** Gives back work->done.native; called exactly once for work that had one, when nobody polls
     * or waits any more. It may come before the holder of a submission collects what is known by
     * then. NULL: events are the program's own, and stay valid. */
    void (*release)(dynsel_backend *backend, dynsel_work *work);

#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    /** Makes a reference to work->done.native that the caller of dynsel_wait_and_unwrap() owns and
     * gives back itself; `release` gives back the library's all the same. False: it cannot. NULL:
     * events of this backend are not counted, and who waits gets none that `release` gives back.
     * Any thread, several at once. (With CONFIG_DYNSEL_IN_FLIGHT_SMALL that caller gets the
     * library's own, and `release` is not called.) */
    bool (*retain)(dynsel_backend *backend, const dynsel_work *work);

    /** Whether the backend knows that the device is lost, so that it would refuse its next work
     * with DYNSEL_E_OUT_OF_SERVICE. For dynsel_resource_in_service(). Never asks a driver, never
     * blocks; any thread. NULL: it shows with the next work. */
    bool (*is_lost)(dynsel_backend *backend, const void *own);
#endif
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
    /** Work on one resource runs in the order in which it was started; for backends without
     * `memory` (see dynsel_domain). */
    bool in_order;

    /** What it does with memory; see <dynsel/memory.h>. NULL: it works in the host's. */
    const struct dynsel_memory_ops *memory;
#endif
} dynsel_backend_ops;

struct dynsel_backend {
    const dynsel_backend_ops *ops;
};

/**
 * Runs work->function in the calling thread with the library's book-keeping around it: puts what it
 * returned, with the details, into work->error. For the `start` operation of backends.
 *
 * Errors: none of its own. May block as the task function does.
 * Cost: one indirect call.
 */
void dynsel_work_call(dynsel_work *work);

/**
 * Marks work as complete: the one function that interrupts and drivers' callbacks may call.
 *
 * token: work->token; may come during `start` already, and too late.
 * end_ns: the clock of dynsel_now_ns() when the work ended; 0: unknown.
 * status: how it ended, DYNSEL_OK or a failure; only the status travels, without details.
 * Returns: DYNSEL_OK, or DYNSEL_E_STALE when that work was complete already: nothing was changed
 *     then. Leaves no last error. Without CONFIG_DYNSEL_IN_FLIGHT always DYNSEL_E_STALE.
 * May block: no.
 * Context: any, interrupts and callbacks of drivers as well.
 * Cost: three compare-and-swaps, with CONFIG_DYNSEL_IN_FLIGHT_SMALL one critical section; wakes
 *     threads that sleep. Policies hear of it when a call of the library looks.
 */
dynsel_status dynsel_complete(uint32_t token, dynsel_status status, uint64_t end_ns);

/**
 * The library's clock: nanoseconds that never go back, from an arbitrary start, never 0.
 *
 * Context: any, interrupts too.
 * Cost: one look at the clock.
 */
uint64_t dynsel_now_ns(void);

DYNSEL_END_DECLS

#endif
