/* SPDX-License-Identifier: Apache-2.0 */
/* The manual backend of tests/fakes, whose header is of C only, for C++. There is one of it. */
#ifndef DYNSEL_TESTS_CPP_MANUAL_H
#define DYNSEL_TESTS_CPP_MANUAL_H

#include <stdbool.h>

#include <dynsel/backend.h>

DYNSEL_BEGIN_DECLS

void manual_reset(void);
dynsel_resource manual_queue_of(unsigned number);

/* A running event on the queue of `where`, which completes when the test says so. */
void *manual_running(const dynsel_resource *where);

/* By the numbers of events, in the order in which they were made. */
void manual_ends(unsigned event);
void manual_fails(unsigned event);

/* Whether a wait completes what it waits for. */
void manual_let_waits_complete(bool complete);
unsigned manual_waits(void);
void manual_refuse(unsigned queue, bool refuses);

/* Every event was released once. */
void manual_check(void);

DYNSEL_END_DECLS

#endif
