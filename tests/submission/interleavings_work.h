/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of test_interleavings.c do and change: operations, the device's events, the work
 * behind its handles, and what was counted; and the policy, which counts. */
#ifndef DYNSEL_TESTS_SUBMISSION_INTERLEAVINGS_WORK_H
#define DYNSEL_TESTS_SUBMISSION_INTERLEAVINGS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/submission.h>

#include "stepping/step.h"

enum { EVENTS = 8, HANDLES = 2, OPERATIONS = 3 };

typedef struct event {
    uint32_t state; /* of the device; an event_state */
    uint32_t token;
    uint32_t releases;
    bool fails;
    bool marks_itself; /* it completes during its start, if the backend marks completion */
} event;

typedef enum event_state { RUNNING, ENDED } event_state;

typedef struct handle {
    dynsel_submission submission;
    unsigned submitted;
    unsigned collected; /* waits that returned the status of the work */
    unsigned released;
    bool awaited; /* the call that submits it waits */
    bool fails;
    event *of;
    uint32_t token; /* of pending work, as all below */
    bool pending;   /* it was accepted as pending work */
    bool waits;
    bool ready;
    bool dependency_failed;
    bool follows; /* it starts after the work of handle 0: the device runs in order */
    bool watched;
    bool notified; /* of a change since then */
    unsigned seen; /* the dynsel_stage when it was watched */
} handle;

/* All that the threads change, except the table of slots. */
typedef struct interleavings_world {
    dynsel_policy policy;
    dynsel_policy other; /* on the same device, for END_OTHER */
    handle handles[HANDLES];
    event events[EVENTS];
    unsigned event_count;
    unsigned full; /* submits that a full table refused */
    unsigned lost; /* submits that the lost device refused */
    unsigned reported_submissions;
    unsigned reported_ends;
    unsigned group_failures;
    unsigned failed_dependents; /* ended without a start */
    unsigned pending_ends;      /* calls for ends of pending work */
    unsigned newest_end;
    unsigned attached; /* queues */
    bool in_order;     /* the device ends work in its order */
    unsigned mistakes;
    const char *mistake;
    bool next_fails;
    bool device_lost;
    bool policy_ended;
} interleavings_world;

static inline unsigned count_failing(const event *events, unsigned count)
{
    unsigned failing = 0;
    for (unsigned i = 0; i < count; i++) {
        failing += events[i].fails ? 1 : 0;
    }
    return failing;
}

/* For the end of a policy: PERHAPS work may be uncollected. */
typedef enum outcome { IN_ANY_CASE, PERHAPS } outcome;

typedef struct operation {
    void (*run)(unsigned which);
    unsigned which;
} operation;

typedef struct program {
    const char *name;
    operation before[2]; /* done before the threads begin */
    operation threads[STEP_THREADS][OPERATIONS];
} program;

/* clang-format off */
#define OPERATION(run, which) {run, which}
/* clang-format on */

/* The counts of its work, which stand in the middle of a policy. */
typedef struct memory_of_counts {
    char *begin;
    size_t bytes;
} memory_of_counts;

static inline memory_of_counts counts_of(dynsel_policy *policy)
{
#if CONFIG_DYNSEL_STATISTICS
    return (memory_of_counts){(char *)policy->counts, sizeof policy->counts};
#else
    return (memory_of_counts){(char *)policy, 0};
#endif
}

static interleavings_world world;

static void expect(bool good, const char *what)
{
    if (!good) {
        world.mistakes++;
        world.mistake = what;
    }
}

/* The policy: one resource, and all reports. */

static dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    selection->index = 0;
    return dynsel_policy_may_use(policy, 0, task) ? DYNSEL_OK : dynsel_policy_refuse(policy, task);
}

static void report(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    world.reported_submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    world.reported_submissions -= info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
    world.reported_ends += info == DYNSEL_TASK_COMPLETION ? 1 : 0;
}

static const dynsel_policy_ops policy_ops = {
    .name = "counting",
    .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
    .try_select = try_select,
    .report = report,
};

#endif
