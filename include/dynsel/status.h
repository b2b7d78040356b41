/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Status codes. Every function that can fail returns one; none aborts.
 *
 * The list below is the only one: the enumeration, the names and the texts come from it.
 */
#ifndef DYNSEL_STATUS_H
#define DYNSEL_STATUS_H

#include <dynsel/config.h>

DYNSEL_BEGIN_DECLS

/** The statuses, for macros: X(name, value, text). */
#define DYNSEL_STATUS_LIST(X)                                                                      \
    X(DYNSEL_OK, 0, "success")                                                                     \
    X(DYNSEL_E_INVALID, -1, "a wrong argument")                                                    \
    X(DYNSEL_E_UNINITIALIZED, -2, "the policy is not initialized")                                 \
    X(DYNSEL_E_AGAIN, -3, "nothing is free at the moment")                                         \
    X(DYNSEL_E_FULL, -4, "a table of fixed size is full")                                          \
    X(DYNSEL_E_BUSY, -5, "still in use")                                                           \
    X(DYNSEL_E_STALE, -6, "already consumed")                                                      \
    X(DYNSEL_E_NO_RESOURCE, -7, "there is no resource to choose from")                             \
    X(DYNSEL_E_UNSUPPORTED, -8, "the resource cannot do this")                                     \
    X(DYNSEL_E_OUT_OF_SERVICE, -9, "the resource is out of service")                               \
    X(DYNSEL_E_DEVICE, -10, "a device or its driver failed")                                       \
    X(DYNSEL_E_TASK, -11, "the task failed")                                                       \
    X(DYNSEL_E_IN_TASK, -12, "waiting inside a task or group function")                            \
    X(DYNSEL_E_TIMEOUT, -13, "it took longer than was allowed")                                    \
    X(DYNSEL_E_ASPECT, -14, "the aspects do not fit")                                              \
    X(DYNSEL_E_DEPENDENCY, -15, "work that this depends on failed")                                \
    X(DYNSEL_E_CONTEXT, -16,                                                                       \
      "called from an interrupt, which may only complete work and look at the clock, or with a "   \
      "policy from before fork()")                                                                 \
    X(DYNSEL_E_CANCELLED, -17, "it was cancelled before it started")                               \
    X(DYNSEL_E_GIVEN_UP, -18, "its resource was given up before it ended")

/** 0 is success, everything below is a failure. A task function may return any of them. */
typedef enum dynsel_status {
#define DYNSEL_STATUS_ENUMERATOR(name, value, text) name = (value),
    DYNSEL_STATUS_LIST(DYNSEL_STATUS_ENUMERATOR)
#undef DYNSEL_STATUS_ENUMERATOR
    /** This and everything below is the application's own: the library passes it on and gives it no
       meaning. */
    DYNSEL_E_USER = -1000
} dynsel_status;

/**
 * The enumerator's name, such as "DYNSEL_E_FULL".
 *
 * Returns: static text; "DYNSEL_E_USER" for the application's own codes, "unknown status" for any
 *     other. Without CONFIG_DYNSEL_STATUS_NAMES always empty.
 * Errors: none.
 * Context: any thread, interrupts.
 * Cost: one look at a short list.
 */
const char *dynsel_status_name(dynsel_status status);

/** One short clause in English, with the same rules as dynsel_status_name(). */
const char *dynsel_status_text(dynsel_status status);

DYNSEL_END_DECLS

#endif
