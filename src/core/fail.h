/* SPDX-License-Identifier: Apache-2.0 */
/* Failing with details: the texts vanish where CONFIG_DYNSEL_ERROR_TEXTS is off. */
#ifndef DYNSEL_CORE_FAIL_H
#define DYNSEL_CORE_FAIL_H

#include <dynsel/error.h>

#include "port/thread.h"

#if CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_TEXT(text) (text)
#else
#define DYNSEL_TEXT(text) NULL
#endif

enum { DYNSEL_TARGET_SHIFT = 16 }; /* in an error's number: the target above the aspect */

/* Fails on behalf of the public function that the user called; `detail` may hold one `{}` for
 * `number`. */
#if CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_FAIL_IN(function_, status_, detail_, number_)                                       \
    dynsel_fail(&(const dynsel_error){.status = (status_),                                         \
                                      .function = (function_),                                     \
                                      .detail = (detail_),                                         \
                                      .number = (uint32_t)(number_)})
#else
#define DYNSEL_FAIL_IN(function_, status_, detail_, number_)                                       \
    ((void)(function_), dynsel_fail_plainly(status_, (uint32_t)(number_)))
#endif

/* dynsel_fail() without texts: no record is built where it is called. */
dynsel_status dynsel_fail_plainly(dynsel_status status, uint32_t number);

/* The same in the public function itself. */
#define DYNSEL_FAIL_NUMBER(status_, detail_, number_)                                              \
    DYNSEL_FAIL_IN(DYNSEL_TEXT(__func__), status_, detail_, number_)

#define DYNSEL_FAIL(status_, detail_) DYNSEL_FAIL_NUMBER(status_, detail_, 0)

/*
 * The details of a failure that a backend, policy or task function has just returned: what it left
 * with the thread since `failures_before`, or the bare status when it left nothing about it.
 */
static inline dynsel_error dynsel_details_of(dynsel_status status, uint32_t failures_before)
{
    const dynsel_thread *thread = dynsel_this_thread();
    if (thread->failure_count != failures_before && thread->last_error.status == status) {
        return thread->last_error;
    }
    return (dynsel_error){.status = status};
}

#endif
