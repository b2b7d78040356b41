/* SPDX-License-Identifier: Apache-2.0 */
/**
 * States of a policy's resources: taking one out of service and back, hearing of it, and time
 * limits of work.
 *
 *     in service --drain--> draining --its work has ended--> out of service
 *      |  |                     |                               ^   |    ^
 *      |  +-----retire, lost, failed too often, given up--------+   |    | a failure
 *      |                                                 reinstate  v    |
 *      |   <--CONFIG_DYNSEL_PROBATION_SUCCESSES successes-- on probation
 *      |                                                        ^
 *      +--work exceeds its time limit--> suspect --it ends late-+
 *                                           |
 *                                           +--CONFIG_DYNSEL_GIVE_UP_AFTER_MS--> out of service
 *
 * Each policy has states of its own: a device can be out of service in one policy and in service in
 * another. A program that gives up a device for all policies retires it in each. Only the loss of a
 * device counts in all of them; giving up an OpenCL device loses it.
 *
 * Work that was accepted by the policy and not started (command groups that wait) is started on
 * another resource when its own one leaves or is suspect; it fails with DYNSEL_E_OUT_OF_SERVICE if
 * no other may be used. Work that a backend has accepted, also if it waits in a worker's queue,
 * counts as started: it ends there, or is cancelled with dynsel_cancel().
 *
 * Time limits: dynsel_task.limit_ns, dynsel_set_time_limit(), or CONFIG_DYNSEL_TIME_LIMIT_MS for
 * all work. The limit is for the oldest work that the policy has on the resource, and counts from
 * its start, or from when the work before it was collected; the time in which the resource works
 * for other policies counts too. So one piece of work without a limit can keep a resource for ever.
 * Each call that collects work looks at the limits: submits that find no slot free, waits for any
 * work, dynsel_progress(), dynsel_resource_get_state(), and the progress thread all the time. While
 * work with a limit is in flight, waits poll, at least every millisecond, and do not block in a
 * driver; a thread that was in a driver's wait before stays there until that work ends.
 *
 * Work past its limit: the resource is suspect and gets no more. If the work still ends, however,
 * its result counts as usual, and the resource is put on probation. Otherwise the resource is given
 * up: all started work that the policy has there ends with DYNSEL_E_GIVEN_UP, and its dependents
 * with DYNSEL_E_DEPENDENCY. The resource may still use the memory of this work: arguments, the
 * host's memory of its buffers and ranges, SVM. The library never uses its own part of that again:
 * the copies on the device, with what only they had (DYNSEL_E_DEVICE, as on a lost device), staging
 * memory, and the slot of work that a worker or a custom backend still runs, until that ends. It
 * does not free these copies and staging memory. The program has to leave its own alone, until the
 * program ends, or a worker has returned; dynsel_buffer_deinit() tells for which buffers
 * (DYNSEL_E_DEPENDENCY).
 * A policy that has such a slot cannot be ended (DYNSEL_E_BUSY). An OpenCL device is lost, with
 * those that share its context: work of other policies there ends with DYNSEL_E_GIVEN_UP, too.
 *
 * Source: design, faults: resource states and time limits. Without CONFIG_DYNSEL_RESOURCE_STATES
 * there are only two states, see dynsel_resource_in_service().
 */
#ifndef DYNSEL_RESOURCE_STATES_H
#define DYNSEL_RESOURCE_STATES_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_RESOURCE_STATES

DYNSEL_BEGIN_DECLS

/** The states, for macros: X(name, text). */
#define DYNSEL_RESOURCE_STATE_LIST(X)                                                              \
    X(DYNSEL_RESOURCE_IN_SERVICE, "in service")                                                    \
    X(DYNSEL_RESOURCE_ON_PROBATION, "on probation")                                                \
    X(DYNSEL_RESOURCE_DRAINING, "draining")                                                        \
    X(DYNSEL_RESOURCE_SUSPECT, "suspect")                                                          \
    X(DYNSEL_RESOURCE_OUT_OF_SERVICE, "out of service")                                            \
    X(DYNSEL_RESOURCE_LOST, "lost")                                                                \
    X(DYNSEL_RESOURCE_REMOVED, "removed")

/** The state of a resource in its policy. */
typedef enum dynsel_resource_state {
#define DYNSEL_RESOURCE_STATE_ENUMERATOR(name, text) name,
    DYNSEL_RESOURCE_STATE_LIST(DYNSEL_RESOURCE_STATE_ENUMERATOR)
#undef DYNSEL_RESOURCE_STATE_ENUMERATOR
} dynsel_resource_state;

/** What the hook `resource_changed` of dynsel_options gets. */
typedef struct dynsel_resource_change {
    dynsel_policy *policy;
    uint32_t index; /**< of the resource in dynsel_get_resources() */
    dynsel_resource_state before;
    dynsel_resource_state after; /**< never DYNSEL_RESOURCE_LOST: a loss shows as out of service */
    /** DYNSEL_OK: the program asked for it, or the work of a draining resource or of a probation
     * went well, or that of a suspect resource ended; DYNSEL_E_DEVICE: failed work;
     * DYNSEL_E_OUT_OF_SERVICE: its backend refused work, because the device is lost or does not
     * open; DYNSEL_E_TIMEOUT: work exceeded its time limit; DYNSEL_E_GIVEN_UP: so it was given
     * up. */
    dynsel_status cause;
} dynsel_resource_change;

/** Display text of a state, such as "on probation"; static, empty without
 * CONFIG_DYNSEL_STATUS_NAMES, "unknown state" for other values. Context: any. Cost: constant. */
const char *dynsel_resource_state_text(dynsel_resource_state state);

/**
 * The state of the resource at `index`. Collects what has ended on it while it drains, and looks at
 * time limits, so that a program that only polls this function sees the end of the drain.
 *
 * state: out; unchanged on failure. DYNSEL_RESOURCE_LOST as soon as the backend knows of the loss,
 *     also through another policy's work.
 * Errors: DYNSEL_E_INVALID (NULL, a copy, index past the table), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_CONTEXT (an interrupt).
 * May block: no. Context: any thread.
 * Cost: constant; that of a reap while it drains, or work with a limit is in flight.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_get_state(dynsel_policy *policy, size_t index,
                                                       dynsel_resource_state *state);

/**
 * Gives the resource no new work and lets started work end; then it goes out of service. To turn a
 * device off, or to update it, without losing work.
 *
 * A submit of another thread that has chosen the resource before this call may still start its
 * work, also after the last work in flight has ended; it is collected like all work.
 *
 * Errors: DYNSEL_E_INVALID (NULL, a copy, index past the table), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_CONTEXT (an interrupt), DYNSEL_E_OUT_OF_SERVICE (it drains or is out of service
 *     already), DYNSEL_E_NO_RESOURCE (it is the last one of the policy in service). Nothing was
 *     changed then.
 * May block: no; for the end see dynsel_resource_get_state() and the hook. Context: any thread.
 * Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_drain(dynsel_policy *policy, size_t index);

/**
 * Takes the resource out of service at once. Started work is collected as usual when it ends. A
 * draining resource can be retired.
 *
 * Errors: as dynsel_resource_drain(), but DYNSEL_E_OUT_OF_SERVICE only where it is out of service
 *     already, and DYNSEL_E_NO_RESOURCE not for a draining one.
 * May block: no. Context: any thread.
 * Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_retire(dynsel_policy *policy, size_t index);

#if CONFIG_DYNSEL_TIME_LIMITS
/**
 * Gives up the resource at once, in whatever state: for a device that the program knows to be dead.
 * Takes it out of service and ends the policy's started work there with DYNSEL_E_GIVEN_UP, whatever
 * its limits; see above for its memory. A worker or another accelerator can be reinstated when it
 * works again; an OpenCL device is lost, with those that share its context.
 *
 * Errors: DYNSEL_E_INVALID (NULL, a copy, index past the table), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_CONTEXT (an interrupt), DYNSEL_E_IN_TASK (a task or group function),
 *     DYNSEL_E_UNSUPPORTED (its backend is polled, and cannot: dynsel_backend_ops.give_up),
 *     DYNSEL_E_OUT_OF_SERVICE (it was removed, see <dynsel/resource_set.h>). Nothing was changed
 *     then.
 * May block: for another thread that collects work of the resource, never for the resource.
 *     Context: any thread.
 * Cost: linear in the work in flight on the resource.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_give_up(dynsel_policy *policy, size_t index);
#endif

DYNSEL_END_DECLS

#endif

#endif
