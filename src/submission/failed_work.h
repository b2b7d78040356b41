/* SPDX-License-Identifier: Apache-2.0 */
/* Work that command groups follow, by its token: they are told of its failure before its end is
 * visible, because after that its slot may be in use again. */
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
/* What a command group follows, and the first failure among it. Lives forever. Its owner alone
 * writes it, but for the cause, which is set once. */
typedef struct dynsel_followed {
    struct dynsel_followed *next;
    bool listed;
    uint32_t count;
    uint32_t task_count; /* so many of them, the first, are tasks */
    uint32_t tokens[CONFIG_DYNSEL_MAX_DEPENDENCIES];
    dynsel_cause cause; /* to be read where dynsel_followed_has_failed() */
} dynsel_followed;

/* Before the end of the work is visible, by the thread that ends it. slot: its number. */
DYNSEL_RARE void dynsel_failed_work_note(uint32_t slot, uint32_t token,
                                         const dynsel_kept_error *error);

/* Nothing is followed yet. */
DYNSEL_RARE void dynsel_followed_begin(dynsel_followed *followed);

/* Adds work that was not over, whose slot the caller holds by a reference; there is room. */
DYNSEL_RARE void dynsel_followed_add(dynsel_followed *followed, uint32_t slot, uint32_t token,
                                     bool is_task);

/* Adds work that is over and has failed. */
DYNSEL_RARE void dynsel_followed_fail(dynsel_followed *followed, const dynsel_kept_error *error);

/* For the owner. */
DYNSEL_RARE bool dynsel_followed_has(const dynsel_followed *followed, uint32_t token);

/* Whether some of the work that is over has failed. */
DYNSEL_RARE bool dynsel_followed_has_failed(const dynsel_followed *followed);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(), which forgets the groups too. */
void dynsel_failed_work_forget_all(void);
#endif
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
