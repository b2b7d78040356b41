/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands whose ends go wrong. A command that is late really is: it waits for an event of the
 * layer's own, the gate, and so does all that comes after it in its queue.
 */
#include <stdio.h>
#include <stdlib.h>

#include "faults/layer_state.h"

enum { MOST_COMMANDS = 512, MOST_CALLBACKS = 64, MOST_QUEUES = 16, LOOKS = 3, NOT_RUN = -14 };

/* A command that does not end as the driver says. */
typedef struct command {
    cl_event event;
    cl_command_queue queue;
    cl_int status; /* below 0: how it ends */
    bool is_said_to_be_over;
    bool is_held; /* until the gate opens */
} command;

typedef struct callback {
    cl_event event;
    void(CL_CALLBACK *notify)(cl_event event, cl_int status, void *data);
    void *data;
    cl_int status;
    uint32_t times;
    bool at_release; /* of the event */
} callback;

static command commands[MOST_COMMANDS];
static uint32_t command_count;
static callback callbacks[MOST_CALLBACKS];
static uint32_t callback_count;
static cl_event gate;
static cl_command_queue held_queues[MOST_QUEUES]; /* in order, so all that comes later waits too */
static uint32_t held_count;
static fault_ending held_how;
static uint32_t looks;
static uint32_t blocked;

static void *enter(void *table, uint32_t *count, uint32_t most, size_t bytes)
{
    if (*count == most) {
        (void)fprintf(stderr, "a table of the fault layer is full\n");
        abort();
    }
    return (char *)table + bytes * (*count)++;
}

static const command *find(cl_event event)
{
    for (uint32_t i = command_count; i > 0; i--) {
        if (commands[i - 1].event == event) {
            return &commands[i - 1];
        }
    }
    return NULL;
}

static bool is_any(const fault_fate *fate, bool (*is)(const command *))
{
    for (cl_uint i = 0; i < fate->count; i++) {
        const command *const before = find(fate->events[i]);
        if (before != NULL && is(before)) {
            return true;
        }
    }
    return false;
}

static bool has_failed(const command *c)
{
    return c->status < 0;
}

static bool is_held(const command *c)
{
    return c->is_held && gate != NULL;
}

static bool is_held_queue(cl_command_queue queue)
{
    for (uint32_t i = 0; i < held_count; i++) {
        if (held_queues[i] == queue) {
            return gate != NULL;
        }
    }
    return false;
}

static void hold_queue(cl_command_queue queue)
{
    if (!is_held_queue(queue)) {
        *(cl_command_queue *)enter(held_queues, &held_count, MOST_QUEUES,
                                   sizeof(cl_command_queue)) = queue;
    }
}

/* The queue's commands wait for the gate from here on. */
static void close_gate(fault_fate *fate, cl_command_queue queue, fault_ending how)
{
    cl_context context = NULL;
    cl_int code = CL_SUCCESS;
    (void)clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
    gate = clCreateUserEvent(context, &code);
    held_count = 0;
    hold_queue(queue);
    held_how = how;
    looks = 0;
    if (fate->count == FAULT_MOST_EVENTS || code != CL_SUCCESS) {
        (void)fprintf(stderr, "the fault layer cannot hold a command\n");
        abort();
    }
    fate->events[fate->count++] = gate;
}

void fault_let_go(void)
{
    const cl_event closed = gate;
    gate = NULL;
    if (closed != NULL) {
        const bool before = fault_is_suspended();
        fault_suspend(true);
        (void)clSetUserEventStatus(closed, CL_COMPLETE);
        (void)clReleaseEvent(closed);
        fault_suspend(before);
    }
}

bool fault_is_holding(void)
{
    return gate != NULL;
}

uint32_t fault_blocked(void)
{
    return blocked;
}

void fault_forget_commands(void)
{
    fault_let_go();
    command_count = 0;
    callback_count = 0;
    blocked = 0;
}

/* The layer's own list, to which the gate can be added. */
static void copy_list(fault_fate *fate, cl_uint *count, const cl_event **before)
{
    for (cl_uint i = 0; i < *count && i < FAULT_MOST_EVENTS; i++) {
        fate->events[fate->count++] = (*before)[i];
    }
}

void fault_decide(fault_fate *fate, cl_command_queue queue, bool makes_event, cl_uint *count,
                  const cl_event **before)
{
    *fate = (fault_fate){.count = 0};
    if (fault_is_suspended() || *count > FAULT_MOST_EVENTS) {
        return;
    }
    copy_list(fate, count, before);
    fate->is_held = is_held_queue(queue) || is_any(fate, is_held);
    if (fate->is_held) {
        hold_queue(queue);
    }
    fate->status = is_any(fate, has_failed) ? NOT_RUN : CL_COMPLETE;
    const fault_ending end = fault_strikes_end(queue, makes_event, &fate->struck);
    fault_suspend(true);
    if (end == FAULT_END_FAILS) {
        fate->status = fate->struck;
    } else if (end != FAULT_NO_END && gate == NULL) {
        close_gate(fate, queue, end);
        fate->is_held = true;
        fate->is_said_to_be_over = end == FAULT_END_EARLY;
    }
    fault_suspend(false);
    *count = fate->count;
    *before = fate->count != 0 ? fate->events : NULL;
}

void fault_enter_command(const fault_fate *fate, cl_command_queue queue, const cl_event *event)
{
    if (event != NULL && (fate->is_held || fate->status < 0)) {
        command *const c = enter(commands, &command_count, MOST_COMMANDS, sizeof(command));
        *c = (command){.event = *event,
                       .queue = queue,
                       .status = fate->status,
                       .is_said_to_be_over = fate->is_said_to_be_over,
                       .is_held = fate->is_held};
    }
}

cl_int fault_enqueue_nothing(cl_command_queue queue, cl_uint count, const cl_event *before,
                             cl_event *event)
{
    const bool was = fault_is_suspended();
    fault_suspend(true);
    const cl_int code = clEnqueueMarkerWithWaitList(queue, count, before, event);
    fault_suspend(was);
    return code;
}

/* What is late ends after some looks. */
void fault_count_look(void)
{
    if (gate != NULL && held_how != FAULT_END_NEVER && ++looks > LOOKS) {
        fault_let_go();
    }
}

void fault_tell_status(cl_event event, cl_int *status)
{
    const command *const c = find(event);
    if (c != NULL && c->is_said_to_be_over) {
        *status = CL_COMPLETE;
    } else if (c != NULL && c->status < 0 && *status == CL_COMPLETE) {
        *status = c->status;
    }
}

/* True: the wait is over, with the code. */
bool fault_begin_wait(cl_uint count, const cl_event *events, cl_int *code)
{
    if (fault_is_suspended()) {
        return false;
    }
    for (cl_uint i = 0; i < count; i++) {
        const command *const c = find(events[i]);
        if (c == NULL || !is_held(c)) {
            continue;
        }
        if (c->is_said_to_be_over && count == 1) {
            *code = CL_SUCCESS;
            return true;
        }
        fault_begin_blocking(held_queues[0]);
    }
    return false;
}

void fault_begin_blocking(cl_command_queue queue)
{
    if (is_held_queue(queue)) {
        blocked += held_how == FAULT_END_NEVER ? 1 : 0;
        fault_let_go();
    }
}

void fault_end_wait(cl_uint count, const cl_event *events, cl_int *code)
{
    for (cl_uint i = 0; i < count; i++) {
        const command *const c = find(events[i]);
        if (*code == CL_SUCCESS && c != NULL && has_failed(c) && !fault_is_suspended()) {
            *code = NOT_RUN; /* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */
        }
    }
}

static void CL_CALLBACK call_back(cl_event event, cl_int status, void *data)
{
    const callback *const c = data;
    for (uint32_t i = 0; i < c->times; i++) {
        c->notify(event, c->status < 0 ? c->status : status, c->data);
    }
}

cl_int fault_set_callback(cl_event event, cl_int type,
                          void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data,
                          fault_ending end)
{
    const command *const c = find(event);
    callback *const made = enter(callbacks, &callback_count, MOST_CALLBACKS, sizeof(callback));
    *made = (callback){.event = event,
                       .notify = notify,
                       .data = data,
                       .status = c != NULL ? c->status : CL_COMPLETE,
                       .times = end == FAULT_TOLD_TWICE ? 2 : 1,
                       .at_release = end == FAULT_TOLD_LATE};
    if (end == FAULT_TOLD_NEVER || end == FAULT_TOLD_LATE) {
        return CL_SUCCESS;
    }
    if (c != NULL && c->is_said_to_be_over) {
        notify(event, CL_COMPLETE, data);
        return CL_SUCCESS;
    }
    const bool before = fault_is_suspended();
    fault_suspend(true);
    const cl_int code = clSetEventCallback(event, type, call_back, made);
    fault_suspend(before);
    return code;
}

/* A driver may be as late as that. */
void fault_event_is_released(cl_event event)
{
    for (uint32_t i = 0; i < callback_count; i++) {
        if (callbacks[i].at_release && callbacks[i].event == event) {
            callbacks[i].at_release = false;
            callbacks[i].notify(event, CL_COMPLETE, callbacks[i].data);
        }
    }
}
