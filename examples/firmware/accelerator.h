/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two accelerators and their backend. They are simulated: a timer's interrupt does the work and
 * tells its end, as the interrupt of a DMA engine would.
 */
#ifndef EXAMPLES_FIRMWARE_ACCELERATOR_H
#define EXAMPLES_FIRMWARE_ACCELERATOR_H

#include <dynsel/dynsel.h>

enum { ACCELERATORS = 2, ACCELERATOR_QUEUE = 3 };

/* What an accelerator is asked to do; a task function leaves it in done->native. It must stay until
 * the work is complete. */
typedef struct command {
    void (*operation)(void *data);
    void *data;
} command;

typedef struct accelerator {
    const char *name;
    uint32_t ticks;          /* that a piece of work takes */
    uint32_t ticks_left;     /* for the oldest piece; 0: not begun */
    uint32_t put;            /* so many went in, */
    volatile uint32_t taken; /* and out: only the interrupt counts these */
    uint32_t most;           /* were inside at once */
    struct {
        dynsel_work *work;
        command what;
    } queue[ACCELERATOR_QUEUE];
} accelerator;

extern accelerator accelerators[ACCELERATORS];
extern dynsel_backend accelerator_backend;

/* Counted by the interrupt. */
extern volatile uint32_t accelerator_interrupts, accelerator_ends;
extern volatile uint32_t accelerator_refused_ends; /* the library knew no such work: never */

void accelerators_on(void);
void accelerators_off(void);

#endif
