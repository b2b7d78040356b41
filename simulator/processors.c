/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processors of the host, which devices share: while these have more threads than there are
 * processors, all of them get slower alike. So an end is known only as long as nothing else begins:
 * all ends that are still to come are computed anew with each run.
 */
#include "simulated.h"

#include <dynsel/config.h>
#include <dynsel/device.h>

#define NEVER UINT64_MAX

enum { QUEUES = CONFIG_DYNSEL_MAX_RESOURCES + 1 }; /* one is the program's */

/* The first run of a device that is not over, at a time. */
typedef struct turn {
    simulated_event *event; /* NULL: none */
    uint64_t left_ns;       /* of its run, without other devices */
} turn;

/* Each with its runs, which begin in this order. */
typedef struct queue {
    dynsel_simulated_device *device;
    turn first;
    simulated_event *last;
} queue;

static uint32_t processors; /* 0: as many as there are threads */
static queue queues[QUEUES];
static uint32_t count;
static uint64_t known_ns; /* the time of what the queues say */

/* A device that runs what the program computes, with one thread if that needs a processor. */
static dynsel_simulated_device program;

void dynsel_simulated_share(uint32_t processor_count)
{
    processors = processor_count;
    program.threads = 0;
}

void dynsel_simulated_share_with_program(uint32_t processor_count)
{
    processors = processor_count;
    program.threads = 1;
}

void simulated_restart_processors(void)
{
    processors = 0;
    program = (dynsel_simulated_device){.threads = 0};
    count = 0;
    known_ns = 0;
}

static queue *queue_of(dynsel_simulated_device *device)
{
    for (uint32_t i = 0; i < count; i++) {
        if (queues[i].device == device) {
            return &queues[i];
        }
    }
    if (count == QUEUES) {
        return NULL;
    }
    queues[count] = (queue){.device = device};
    return &queues[count++];
}

bool simulated_shares_processors(dynsel_simulated_device *device)
{
    return processors != 0 && device->threads != 0 &&
           device->threads != DYNSEL_PROCESSORS_ELSEWHERE && queue_of(device) != NULL;
}

static bool runs_at(const turn *at, uint64_t ns)
{
    return at->event != NULL && at->event->begin_ns <= ns;
}

/* How many threads compute, or processors if there are more of those: a run takes so many times as
 * long for each processor. */
static uint64_t crowd_at(const turn *turns, uint64_t ns)
{
    uint64_t threads = 0;
    for (uint32_t i = 0; i < count; i++) {
        threads += runs_at(&turns[i], ns) ? queues[i].device->threads : 0;
    }
    return threads > processors ? threads : processors;
}

static uint64_t end_of(const turn *at, uint64_t ns, uint64_t crowd)
{
    return ns + (at->left_ns * crowd + processors - 1) / processors;
}

/* The next time at which a run begins or ends. */
static uint64_t next_change(const turn *turns, uint64_t ns, uint64_t crowd)
{
    uint64_t next_ns = NEVER;
    for (uint32_t i = 0; i < count; i++) {
        if (turns[i].event != NULL) {
            const uint64_t at_ns = runs_at(&turns[i], ns) ? end_of(&turns[i], ns, crowd)
                                                          : turns[i].event->begin_ns;
            next_ns = at_ns < next_ns ? at_ns : next_ns;
        }
    }
    return next_ns;
}

static turn turn_of(simulated_event *event, uint64_t ns)
{
    if (event != NULL) {
        event->begin_ns = simulated_later(ns, event->after_ns);
    }
    return (turn){.event = event, .left_ns = event != NULL ? event->alone_ns : 0};
}

static void end_at(simulated_event *event, dynsel_simulated_device *device, uint64_t ns)
{
    device->busy_ns += ns - event->begin_ns - event->counted_ns;
    event->counted_ns = ns - event->begin_ns;
    device->free_ns = ns;
    if (event->end_ns != ns) {
        simulated_change_end(event, device, ns);
    }
}

/* Lets time pass from one change to the next, as far as `until_ns`. */
static void pass(turn *turns, uint64_t from_ns, uint64_t until_ns)
{
    for (uint64_t ns = from_ns; ns < until_ns;) {
        const uint64_t crowd = crowd_at(turns, ns);
        const uint64_t change_ns = next_change(turns, ns, crowd);
        const uint64_t next_ns = change_ns < until_ns ? change_ns : until_ns;
        if (next_ns == NEVER) {
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            turn *const at = &turns[i];
            if (!runs_at(at, ns)) {
                continue;
            }
            if (end_of(at, ns, crowd) <= next_ns) {
                end_at(at->event, queues[i].device, next_ns);
                *at = turn_of(at->event->next, next_ns);
            } else {
                at->left_ns -= (next_ns - ns) * processors / crowd;
            }
        }
        ns = next_ns;
    }
}

static void get_turns(turn *turns)
{
    for (uint32_t i = 0; i < count; i++) {
        turns[i] = queues[i].first;
    }
}

/* Brings the queues to the present. */
static void catch_up(void)
{
    turn turns[QUEUES];
    get_turns(turns);
    pass(turns, known_ns, dynsel_now_ns());
    for (uint32_t i = 0; i < count; i++) {
        queues[i].first = turns[i];
    }
    known_ns = dynsel_now_ns();
}

void simulated_run_on_processors(dynsel_simulated_device *device, simulated_event *event)
{
    turn turns[QUEUES];
    catch_up();
    queue *const its = queue_of(device);
    event->alone_ns = event->alone_ns != 0 ? event->alone_ns : 1; /* it is over later than now */
    event->next = NULL;
    event->shares = true;
    if (its->first.event == NULL) {
        its->first = turn_of(event, known_ns);
    } else {
        its->last->next = event;
    }
    its->last = event;
    get_turns(turns);
    pass(turns, known_ns, NEVER);
}

/* Takes a run out of a queue that is not over: its device is lost, for example. */
static void take_out(queue *from, const simulated_event *event)
{
    simulated_event *before = from->first.event;
    if (before == event) {
        from->first = turn_of(event->next, known_ns);
        return;
    }
    while (before != NULL && before->next != event) {
        before = before->next;
    }
    if (before != NULL) {
        before->next = event->next;
        from->last = from->last == event ? before : from->last;
    }
}

void simulated_leave_processors(const simulated_event *event)
{
    catch_up();
    for (uint32_t i = 0; i < count; i++) {
        take_out(&queues[i], event);
    }
}

void simulated_compute(uint64_t ns)
{
    simulated_event *event =
        ns != 0 && simulated_shares_processors(&program) ? simulated_take_event() : NULL;
    if (event == NULL) {
        simulated_advance_to(dynsel_now_ns() + ns);
        return;
    }
    event->alone_ns = ns;
    simulated_run_on_processors(&program, event); /* nothing begins until it is over */
    simulated_advance_to(event->end_ns);
    simulated_free_event(event);
}
