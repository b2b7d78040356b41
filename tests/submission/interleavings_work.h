/* SPDX-License-Identifier: Apache-2.0 */
/* What test_interleavings.c knows of the device's events, and of the work behind its handles. */
#ifndef DYNSEL_TESTS_SUBMISSION_INTERLEAVINGS_WORK_H
#define DYNSEL_TESTS_SUBMISSION_INTERLEAVINGS_WORK_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
