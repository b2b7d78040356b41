/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupts of both stubs: they come while a thread sleeps, and never while a lock is held. A
 * thread that is not woken sleeps until its time is over, which ends the program.
 */
#ifndef TESTS_RTOS_INTERRUPTS_H
#define TESTS_RTOS_INTERRUPTS_H

#include <board.h>
#include <stdio.h>
#include <stdlib.h>

#include "system.h"

enum { MOST_TICKS = 1000 };

static void (*on_timer)(void);
static unsigned locks, sleeps;
static bool in_interrupt, given;

void board_timer_start(uint32_t period_us, void (*handler)(void))
{
    (void)period_us;
    on_timer = handler;
}

void board_timer_stop(void)
{
    on_timer = NULL;
}

unsigned system_sleeps(void)
{
    return sleeps;
}

bool system_is_as_before(void)
{
    return locks == 0 && !in_interrupt;
}

static void refuse(const char *what)
{
    fprintf(stderr, "stub: %s\n", what);
    exit(3);
}

/* Sleeps until an interrupt gives the semaphore. */
static void sleep_until_given(void)
{
    sleeps++;
    for (unsigned tick = 0; !given; tick++) {
        if (tick == MOST_TICKS || on_timer == NULL) {
            refuse("nobody woke the thread");
        }
        const unsigned held = locks;
        locks = 0;
        in_interrupt = true;
        on_timer();
        in_interrupt = false;
        if (locks != 0) {
            refuse("an interrupt kept a lock");
        }
        locks = held;
    }
    given = false;
}

#endif
