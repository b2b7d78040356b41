/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs two threads through every order of their atomic operations.
 *
 * The threads are coroutines. Whenever one is about to do an atomic operation, both ways on are
 * tried: the whole state (memory and stacks) is kept, one way is followed to its end, the state is
 * brought back, and the other is. A state that was there before is not followed again; how many
 * orders it leads to is known then.
 */
#ifndef DYNSEL_TESTS_STEPPING_STEP_H
#define DYNSEL_TESTS_STEPPING_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STEP_THREADS = 2 };

/* In conditions of the preprocessor, too. */
#define STEP_SLOTS 2

typedef enum step_kind { STEP_READS, STEP_WRITES } step_kind;

/* Called before each atomic operation; outside of the threads it does nothing. */
void step_before(step_kind kind);

/* The same before an operation on this word of the library: on a counter it does nothing. */
void step_before_word(const void *word, step_kind kind);

/* Waits until the other thread has written something since the last pause. */
void step_pause(void);

/* Which thread runs: 0 or 1. */
unsigned step_thread(void);

/* Counters: each is changed by one thread, or by additions alone, and read by the check at most. So
 * no order of operations on them differs from another, and what they count decides nothing: these
 * operations are no steps, and the counters, which would tell the way to a state, are no part of
 * it. */
typedef struct step_piece {
    void *memory;
    size_t bytes;
    bool counters;
} step_piece;

typedef struct step_scenario {
    void (*run)(unsigned thread); /* what one thread does */
    void (*check)(void);          /* when both are done; it may change everything */
    const step_piece *memory;     /* all that the threads and the check change */
    size_t pieces;
} step_scenario;

typedef struct step_result {
    double orders; /* in which the operations of the two threads can come */
    unsigned long states;
    unsigned long ends; /* different ones; each was checked */
    unsigned longest;   /* operations in one order */
    unsigned overslept; /* states in which a thread slept and there was nobody to wake it */
} step_result;

/* All orders from the state that memory is in now, which it is in again afterwards. Threads that
 * wait for each other, or more than some hundred operations, end the program. */
step_result step_through(const step_scenario *scenario);

/* The order that is being followed, such as "ABBA": for messages. */
const char *step_path(void);

#endif
