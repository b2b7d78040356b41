/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend of devices whose work ends when the test says so, told with dynsel_complete() alone:
 * between two calls of the program, during a start, or by a timer's interrupt while it sleeps.
 */
#ifndef DYNSEL_TESTS_MARKED_BACKEND_H
#define DYNSEL_TESTS_MARKED_BACKEND_H

#include <stdbool.h>

#include <dynsel/backend.h>

#define MARKED_QUEUE 64 /* pieces of work */

typedef struct marked_device {
    volatile uint32_t put, taken;
    const dynsel_work *volatile queue[MARKED_QUEUE]; /* oldest first, from `taken` on */
    uint32_t room;                                   /* DYNSEL_E_AGAIN when so many are in it */
    dynsel_status refuses;                           /* what start returns, unless DYNSEL_OK */
    bool ends_in_start;                              /* before the task function is called */
    int attached;
} marked_device;

extern dynsel_backend marked_backend;
extern uint32_t marked_releases; /* of events */

dynsel_resource marked_resource(marked_device *device);

/* An empty device with a full queue's room. */
void marked_reset(marked_device *device);

/* Ends the oldest work of a device, if there is some, as an interrupt would. */
void marked_end(marked_device *device, dynsel_status status, uint64_t end_ns);

/* From now on a timer ends the oldest work of these devices, one piece of each at a time, until it
 * is turned off. */
void marked_timer_on(marked_device *devices, unsigned count);
void marked_timer_off(void);

/* For task functions: an event. */
void *marked_event(void);

#endif
