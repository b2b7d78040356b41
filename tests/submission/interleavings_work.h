/* SPDX-License-Identifier: Apache-2.0 */
/* What test_interleavings.c knows of the device's events, and of the work behind its handles. */
#ifndef DYNSEL_TESTS_SUBMISSION_INTERLEAVINGS_WORK_H
#define DYNSEL_TESTS_SUBMISSION_INTERLEAVINGS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/submission.h>

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

static inline unsigned count_failing(const event *events, unsigned count)
{
    unsigned failing = 0;
    for (unsigned i = 0; i < count; i++) {
        failing += events[i].fails ? 1 : 0;
    }
    return failing;
}

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

#endif
