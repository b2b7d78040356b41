/* SPDX-License-Identifier: Apache-2.0 */
/* Failing with details: the texts vanish where CONFIG_DYNSEL_ERROR_TEXTS is off. */
#ifndef DYNSEL_BASE_FAIL_H
#define DYNSEL_BASE_FAIL_H

#include <dynsel/error.h>

#include "port/thread.h"

#if CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_TEXT(text) (text)
#else
#define DYNSEL_TEXT(text) NULL
#endif

/* The text of a failure that another value of CONFIG_DYNSEL_<option> would avoid: "CONFIG_... is
 * 12, and ...". rest: what needs more, and the value that would do. */
#define DYNSEL_OPTION(option, rest) DYNSEL_OPTION_IS(option) ", " rest
#define DYNSEL_OPTION_IS(option)                                                                   \
    "CONFIG_DYNSEL_" #option " is " DYNSEL_STRING(CONFIG_DYNSEL_##option)
#define DYNSEL_STRING(value)    DYNSEL_STRING_OF(value)
#define DYNSEL_STRING_OF(value) #value

enum { DYNSEL_TARGET_SHIFT = 16 }; /* in an error's number: the target above the aspect */

/* Fails on behalf of the public function that the user called; `detail` may hold one `{}` for
 * `number`. */
#if CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_FAIL_IN(function_, status_, detail_, number_)                                       \
    dynsel_fail(&(const dynsel_error){.status = (status_),                                         \
                                      .function = (function_),                                     \
                                      .detail = (detail_),                                         \
                                      .number = (uint32_t)(number_)})
#elif CONFIG_DYNSEL_ERROR_DETAILS
#define DYNSEL_FAIL_IN(function_, status_, detail_, number_)                                       \
    ((void)(function_), dynsel_fail_plainly(status_, (uint32_t)(number_)))
#else
#define DYNSEL_FAIL_IN(function_, status_, detail_, number_)                                       \
    ((void)(function_), (void)(number_), dynsel_fail_for_certain(status_))
#endif

/* dynsel_fail() without texts, and without details: no record is built where it is called. */
dynsel_status dynsel_fail_plainly(dynsel_status status, uint32_t number);
dynsel_status dynsel_fail_with(dynsel_status status);

/* The compiler knows that the status is a failure, so that callers do not check it. */
__attribute__((always_inline)) static inline dynsel_status
dynsel_fail_for_certain(dynsel_status status)
{
    const dynsel_status same = dynsel_fail_with(status);
    if (same == DYNSEL_OK) {
        __builtin_unreachable();
    }
    return same;
}

/* The same in the public function itself. */
#define DYNSEL_FAIL_NUMBER(status_, detail_, number_)                                              \
    DYNSEL_FAIL_IN(DYNSEL_TEXT(__func__), status_, detail_, number_)

#define DYNSEL_FAIL(status_, detail_) DYNSEL_FAIL_NUMBER(status_, detail_, 0)

/* A failure with texts, to be kept with the work that it is about. */
#if CONFIG_DYNSEL_ERROR_DETAILS
#define DYNSEL_KEPT_ERROR(status_, function_, detail_)                                             \
    ((dynsel_kept_error){                                                                          \
        .status = (status_), .function = DYNSEL_TEXT(function_), .detail = DYNSEL_TEXT(detail_)})
#else
#define DYNSEL_KEPT_ERROR(status_, function_, detail_) ((dynsel_kept_error){.status = (status_)})
#endif

/* Fails with a kept error. */
static inline dynsel_status dynsel_fail_again(const dynsel_kept_error *error)
{
#if CONFIG_DYNSEL_ERROR_DETAILS
    return dynsel_fail(error);
#else
    return dynsel_fail_with(error->status);
#endif
}

/*
 * The details of a failure that a backend, policy or task function has just returned: the last
 * error of the thread if it was set since `failures_before`, or else the bare status.
 */
static inline dynsel_kept_error dynsel_details_of(dynsel_status status, uint32_t failures_before)
{
#if CONFIG_DYNSEL_ERROR_DETAILS
    const dynsel_thread *thread = dynsel_this_thread();
    if (thread->failure_count != failures_before && thread->last_error.status == status) {
        return thread->last_error;
    }
#else
    (void)failures_before;
#endif
    return (dynsel_kept_error){.status = status};
}

#endif
