/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the layer share. */
#ifndef DYNSEL_TESTS_FAULTS_LAYER_STATE_H
#define DYNSEL_TESTS_FAULTS_LAYER_STATE_H

#include "faults/layer.h"

typedef enum fault_kind {
    FAULT_CONTEXT,
    FAULT_QUEUE,
    FAULT_PROGRAM,
    FAULT_KERNEL,
    FAULT_MEMORY,
    FAULT_EVENT,
    FAULT_SHARED
} fault_kind;

/* Lets go of the events that the library has released, and forgets all that it does not hold. */
void fault_forget_events(void);

bool fault_is_suspended(void);

/* Counts a call. True: it has to fail, with *code. */
bool fault_strikes(fault_function function, cl_int *code);

/* Enters an object that the call made; parent: what it was made from, a context for queues and
 * memory, a queue for events. Returns it; NULL is not entered. */
void *fault_made(fault_kind kind, void *object, const void *parent, fault_function made_by);
void fault_retained(const void *object);

/* Whether it was held. */
void fault_released(const void *object);

/* For contexts: what they were made for. */
void fault_note_devices(const void *context, cl_uint count, const cl_device_id *devices);

#endif
