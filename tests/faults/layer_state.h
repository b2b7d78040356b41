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

/* See fault_hit_query(); only the first failure of a run counts. */
void fault_note_query(bool is_look);

/* Counts a call. True: it has to fail, with *code. subject: what it is called for; NULL: nothing
 * that belongs to a context. */
bool fault_strikes(fault_function function, const void *subject, cl_int *code);

/* The context that an object belongs to; NULL: not known. */
const void *fault_context_of(const void *object);

/* The same for the end of a command; *code: below 0, with FAULT_END_FAILS. */
fault_ending fault_strikes_end(cl_command_queue queue, bool makes_event, cl_int *code);

/* The same for a call of clSetEventCallback(). */
fault_ending fault_strikes_callback(const void *event);

/* How a command ends, and what it waits for. */
enum { FAULT_MOST_EVENTS = 64 };
typedef struct fault_fate {
    cl_int status; /* below 0: it does not run, and ends so */
    cl_int struck;
    bool is_held;
    bool is_said_to_be_over;
    cl_uint count;
    cl_event events[FAULT_MOST_EVENTS];
} fault_fate;

/* Before a command is enqueued; its wait list is replaced. */
void fault_decide(fault_fate *fate, cl_command_queue queue, bool makes_event, cl_uint *count,
                  const cl_event **before);
/* After it. */
void fault_enter_command(const fault_fate *fate, cl_command_queue queue, const cl_event *event);

/* In the place of a command that does not run. */
cl_int fault_enqueue_nothing(cl_command_queue queue, cl_uint count, const cl_event *before,
                             cl_event *event);

/* Around clGetEventInfo(): before it, and what it tells. */
void fault_count_look(void);
void fault_tell_status(cl_event event, cl_int *status);

/* Around clWaitForEvents(). True: it is over, with *code. */
bool fault_begin_wait(cl_uint count, const cl_event *events, cl_int *code);
void fault_end_wait(cl_uint count, const cl_event *events, cl_int *code);

/* Before a call that waits for the queue. */
void fault_begin_blocking(cl_command_queue queue);

cl_int fault_set_callback(cl_event event, cl_int type,
                          void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data,
                          fault_ending end);
void fault_event_is_released(cl_event event);
void fault_forget_commands(void);

/* Enters an object that the call made; parent: what it was made from, a context for queues and
 * memory, a queue for events. Returns it; NULL is not entered. */
void *fault_made(fault_kind kind, void *object, const void *parent, fault_function made_by);
void fault_retained(void *object, fault_kind kind, fault_function made_by);

/* Whether it was held. */
void fault_released(const void *object);

/* For contexts: what they were made for. */
void fault_note_devices(const void *context, cl_uint count, const cl_device_id *devices);

#endif
