/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the simulator: virtual time with its events (virtual_time.c), processors that
 * devices share (processors.c), and the devices with their backends (devices.c). */
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
    /* of processors.c */
    bool shares;         /* it runs on shared processors */
    uint64_t alone_ns;   /* its run, if nothing else does */
    uint64_t after_ns;   /* when it may begin */
    uint64_t counted_ns; /* of its run, in the device's busy_ns */
    /* of virtual_time.c */
    uint32_t polls; /* in vain, since `activity` */
    uint64_t activity;
    uint32_t place;               /* in the heap, and 1; 0: it is not there */
    struct simulated_event *next; /* in the list of free ones; of those that share processors: in
                                     the queue of their device */
} simulated_event;

/* A free event; NULL: all are in use. */
simulated_event *simulated_take_event(void);

/* The times of an event are known now. */
void simulated_enter_event(simulated_event *event);

/* The times of an event that was entered have changed. */
void simulated_move_event(simulated_event *event);

void simulated_free_event(simulated_event *event);

/* A run on the device ends at another time than was known. */
void simulated_change_end(simulated_event *event, const dynsel_simulated_device *device,
                          uint64_t end_ns);

/* Whether the device has threads on processors that it shares with others. */
bool simulated_shares_processors(dynsel_simulated_device *device);

/* Puts a run with its alone_ns and after_ns behind all others of a device that shares processors.
 */
void simulated_run_on_processors(dynsel_simulated_device *device, simulated_event *event);

/* A run leaves the queue of its device: before its event is freed. */
void simulated_leave_processors(const simulated_event *event);

/* Time passes while the program computes for so long. */
void simulated_compute(uint64_t ns);

void simulated_restart_processors(void);

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
