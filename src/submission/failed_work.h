/* SPDX-License-Identifier: Apache-2.0 */
/* How work failed, by its token, also after its slot was collected: until other work fails in the
 * same slot. For work that was submitted behind it. */
#ifndef DYNSEL_SUBMISSION_FAILED_WORK_H
#define DYNSEL_SUBMISSION_FAILED_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/error.h>

#include "port/likely.h"

/* What dependents need of a failure. */
typedef struct dynsel_cause {
    dynsel_status status; /* DYNSEL_OK: none */
    int32_t code;
    uint32_t number;
} dynsel_cause;

/* Without CONFIG_DYNSEL_ERROR_DETAILS the status is all that is known. */
static inline dynsel_cause dynsel_cause_of(const dynsel_kept_error *error)
{
#if CONFIG_DYNSEL_ERROR_DETAILS
    return (dynsel_cause){.status = error->status, .code = error->code, .number = error->number};
#else
    return (dynsel_cause){.status = error->status};
#endif
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Before the end of the work is visible, by the thread that ends it. slot: its number. */
DYNSEL_RARE void dynsel_failed_work_note(uint32_t slot, uint32_t token,
                                         const dynsel_kept_error *error);

/* For work that was seen to be over. False: it did not fail. */
bool dynsel_failed_work_find(uint32_t slot, uint32_t token, dynsel_cause *cause);
#else
static inline void dynsel_failed_work_note(uint32_t slot, uint32_t token,
                                           const dynsel_kept_error *error)
{
    (void)slot;
    (void)token;
    (void)error;
}
#endif

#endif
