/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

const dynsel_error *dynsel_last_error(void)
{
    return &dynsel_this_thread()->last_error;
}

#if CONFIG_DYNSEL_ERROR_DETAILS

dynsel_status dynsel_fail(const dynsel_error *error)
{
    static const dynsel_error no_error = {
        .status = DYNSEL_E_INVALID,
        .function = DYNSEL_TEXT("dynsel_fail"),
        .detail = DYNSEL_TEXT("the error is NULL"),
    };
    dynsel_thread *thread = dynsel_this_thread();
    thread->last_error = error != NULL ? *error : no_error;
    thread->failure_count++;
    return thread->last_error.status;
}

#if !CONFIG_DYNSEL_ERROR_TEXTS
dynsel_status dynsel_fail_plainly(dynsel_status status, uint32_t number)
{
    return dynsel_fail(&(const dynsel_error){.status = status, .number = number});
}
#endif

#else

/* Only the status is ever set. */
dynsel_status dynsel_fail_with(dynsel_status status)
{
    dynsel_thread *thread = dynsel_this_thread();
    thread->last_error.status = status;
    thread->failure_count++;
    return status;
}

dynsel_status dynsel_fail(const dynsel_error *error)
{
    return dynsel_fail_with(error != NULL ? error->status : DYNSEL_E_INVALID);
}

#endif
