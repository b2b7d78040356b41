/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the simulator: virtual time with its events (virtual_time.c), and the devices with
 * their backends (devices.c). */
#ifndef DYNSEL_SIMULATOR_SIMULATED_H
#define DYNSEL_SIMULATOR_SIMULATED_H

#include <stdbool.h>

#include <dynsel/simulator.h>

/* Something that ends: a run, or a transfer. */
typedef struct simulated_event {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t seen_ns; /* when the program can see the end */
    bool fails;
    /* of virtual_time.c */
    uint32_t polls; /* in vain, since `activity` */
    uint64_t activity;
    uint32_t place;               /* in the heap, and 1; 0: it is not there */
    struct simulated_event *next; /* in the list of free ones */
} simulated_event;

/* A free event; NULL: all are in use. */
simulated_event *simulated_take_event(void);

/* The times of an event are known now. */
void simulated_enter_event(simulated_event *event);

void simulated_free_event(simulated_event *event);

/* Time does not go back. */
void simulated_advance_to(uint64_t ns);

/* The program did something else than to poll. */
void simulated_note_activity(void);

/* The program asks whether it can see that the event is over. */
bool simulated_poll(simulated_event *event);

void simulated_restart_time(void);

static inline uint64_t simulated_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
