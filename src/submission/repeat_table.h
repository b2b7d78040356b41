/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of repeatable work: it has two slots, that of its first run, which its handle
 * refers to, and one for the second, which is set aside in CLAIMED. When the first run fails with
 * its device its slot stays in COMPLETING:
 *
 *     ARMED --the run failed--> FAILED --off its queue--> READY --> STARTED --the second run ended
 *       |                                                   |                     |
 *       +--any other end                                    +--nowhere to run     |
 *       v                                                   v                     v
 *     UNARMED                                             OVER, and the end of the first is told
 *
 * Whoever reaps takes it off its queue, and whoever reaps all queues starts the second run. In
 * between the slot keeps a reference to itself, and is as unlisted as pending work.
 */
#ifndef DYNSEL_SUBMISSION_REPEAT_TABLE_H
#define DYNSEL_SUBMISSION_REPEAT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/repeat.h>
#include <dynsel/task.h>

#include "policy/task.h"
#include "port/atomic.h"
#include "port/likely.h"
#include "submission/kept.h"

/* dynsel_work.run, from the claim of its slot on the same */
enum { DYNSEL_ONLY_RUN, DYNSEL_FIRST_RUN, DYNSEL_SECOND_RUN };

/* Whether no run can follow, and this one follows none. */
static inline bool dynsel_work_runs_once(const dynsel_work *work)
{
#if CONFIG_DYNSEL_REPEAT
    return work->run == (uint8_t)DYNSEL_ONLY_RUN;
#else
    (void)work;
    return true;
#endif
}

#if CONFIG_DYNSEL_REPEAT

enum {
    DYNSEL_REPEAT_UNARMED,
    DYNSEL_REPEAT_ARMED,
    DYNSEL_REPEAT_FAILED,
    DYNSEL_REPEAT_READY,
    DYNSEL_REPEAT_STARTED,
    DYNSEL_REPEAT_OVER
};

/* Of the slot of the first run, but for `other`. Until the first run ends it is its submitter's,
 * then that of the thread which takes the next step. */
typedef struct dynsel_repeat_record {
    dynsel_word stage;
    dynsel_word other; /* the number of the other run's slot; its own: that has none */
    dynsel_repeat input;
    dynsel_task task;      /* of the second run, unless it is a command group's */
    dynsel_task_form form; /* of a task without forms */
    dynsel_kept_blocks kept;
    uint32_t index;   /* of the resource of the second run, once it has started */
    uint32_t refused; /* how many starts of the second run found the resource out of service */
    uint32_t excluded[DYNSEL_EXCLUDED_WORDS]; /* the resources of earlier runs */
#if CONFIG_DYNSEL_SHADOW_CHECK
    bool checked;          /* a first run that succeeds is followed by a second */
    bool has_slot;         /* of the run after that whose results differed */
    uint32_t result_count; /* runs whose results are kept */
    uint32_t second_index; /* of the resource of the run whose results differed */
    uintptr_t second_value;
#endif
} dynsel_repeat_record;

extern dynsel_repeat_record dynsel_repeats[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* The pieces of work from FAILED to their end. */
extern dynsel_word dynsel_repeats_count;

/* Defined in submission/repeat.c, which uses this table. */
typedef struct dynsel_repeat_ops {
    void (*start_ready)(void); /* starts what is READY */
} dynsel_repeat_ops;

extern const dynsel_repeat_ops dynsel_repeat_operations;

static inline bool dynsel_repeats_exist(void)
{
    return !DYNSEL_LIKELY(dynsel_word_load_relaxed(&dynsel_repeats_count) == 0);
}

/* The same, unless this thread is in a task function. */
DYNSEL_RARE void dynsel_repeat_start_ready(void);

/* Whether the end of a first run with this status is that of a device. */
static inline bool dynsel_repeat_is_for(dynsel_status status)
{
    return status == DYNSEL_E_DEVICE || status == DYNSEL_E_OUT_OF_SERVICE ||
           status == DYNSEL_E_GIVEN_UP;
}

/* The number of the slot of the other run. */
static inline uint32_t dynsel_repeat_other(uint32_t slot)
{
    return dynsel_word_load_relaxed(&dynsel_repeats[slot - 1].other);
}

static inline void dynsel_repeat_join(uint32_t first, uint32_t second)
{
    dynsel_word_store_relaxed(&dynsel_repeats[first - 1].other, second);
    dynsel_word_store_relaxed(&dynsel_repeats[second - 1].other, first);
}

static inline uint32_t dynsel_repeat_stage(uint32_t slot)
{
    return dynsel_word_load_acquire(&dynsel_repeats[slot - 1].stage);
}

/* Enters a stage between ARMED and STARTED. */
void dynsel_repeat_enter(uint32_t slot, uint32_t stage);

/* The work of this slot ends for good, UNARMED or OVER: gives back what was kept. */
void dynsel_repeat_end(uint32_t slot, uint32_t stage);

/* In the child of a fork() there is no such work. */
void dynsel_repeats_forget(void);

/* Counts of dynsel_repeat_statistics. */
extern dynsel_word dynsel_repeats_started;
extern dynsel_word dynsel_repeats_failed;
extern dynsel_word dynsel_repeats_nowhere;
#if CONFIG_DYNSEL_SHADOW_CHECK
extern dynsel_word dynsel_shadow_compared;
extern dynsel_word dynsel_shadow_mismatched;
extern dynsel_word dynsel_shadow_undecided;
extern dynsel_word dynsel_shadow_unchecked;
#endif

#else

static inline bool dynsel_repeats_exist(void)
{
    return false;
}

static inline bool dynsel_repeat_is_for(dynsel_status status)
{
    (void)status;
    return false;
}

static inline void dynsel_repeat_start_ready(void)
{
}

#endif

#endif
