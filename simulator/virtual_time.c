/* SPDX-License-Identifier: Apache-2.0 */
#include "simulated.h"

#include <dynsel/config.h>
#include <dynsel/trace.h>

enum {
    EVENTS = 16 * CONFIG_DYNSEL_MAX_IN_FLIGHT, /* work in flight has a run and some transfers */
    POLLS = 16 /* of one event with nothing in between: the program waits */
};

static uint64_t now_ns = 1;
static uint64_t activity;
static simulated_event events[EVENTS];
static uint32_t used; /* of the table, so far */
static simulated_event *freed;

/* Those that the program cannot see the end of yet, the next one first. */
static simulated_event *heap[EVENTS];
static uint32_t waiting;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

#if CONFIG_DYNSEL_TRACE
/* A trace is in virtual time, too. */
uint64_t dynsel_trace_ticks(void)
{
    return now_ns;
}
#endif

void simulated_restart_time(void)
{
    now_ns = 1;
    used = 0;
    freed = NULL;
    waiting = 0;
    simulated_restart_processors();
}

void simulated_advance_to(uint64_t ns)
{
    now_ns = simulated_later(now_ns, ns);
}

void simulated_note_activity(void)
{
    activity++;
}

static void put(simulated_event *event, uint32_t place)
{
    heap[place - 1] = event;
    event->place = place;
}

static bool is_before(uint32_t a, uint32_t b)
{
    return heap[a - 1]->seen_ns < heap[b - 1]->seen_ns;
}

static void swap(uint32_t a, uint32_t b)
{
    simulated_event *event = heap[a - 1];
    put(heap[b - 1], a);
    put(event, b);
}

/* Places count from 1: those behind `place` are 2 * place and 2 * place + 1. */
static void sort_in(uint32_t place)
{
    while (place > 1 && is_before(place, place / 2)) {
        swap(place, place / 2);
        place /= 2;
    }
    for (uint32_t behind = 2 * place; behind <= waiting; behind = 2 * place) {
        behind += behind < waiting && is_before(behind + 1, behind) ? 1 : 0;
        if (!is_before(behind, place)) {
            break;
        }
        swap(place, behind);
        place = behind;
    }
}

static void leave_heap(simulated_event *event)
{
    const uint32_t place = event->place;
    if (place == 0) {
        return;
    }
    event->place = 0;
    simulated_event *last = heap[waiting - 1];
    waiting--;
    if (last != event) {
        put(last, place);
        sort_in(place);
    }
}

simulated_event *simulated_take_event(void)
{
    simulated_event *event = freed;
    if (event != NULL) {
        freed = event->next;
    } else if (used < EVENTS) {
        event = &events[used++];
    } else {
        return NULL;
    }
    *event = (simulated_event){.fails = false};
    return event;
}

void simulated_enter_event(simulated_event *event)
{
    waiting++;
    put(event, waiting);
    sort_in(waiting);
}

void simulated_move_event(simulated_event *event)
{
    if (event->place != 0) {
        sort_in(event->place);
    }
}

void simulated_free_event(simulated_event *event)
{
    if (event->shares) {
        simulated_leave_processors(event);
    }
    leave_heap(event);
    event->next = freed;
    freed = event;
}

/* The next end of any work that the program cannot see yet. */
static void advance_to_next_end(void)
{
    while (waiting != 0 && heap[0]->seen_ns <= now_ns) {
        leave_heap(heap[0]);
    }
    if (waiting != 0) {
        now_ns = heap[0]->seen_ns;
    }
}

void dynsel_simulated_pass(uint64_t until_ns)
{
    simulated_note_activity();
    while (waiting != 0 && heap[0]->seen_ns <= now_ns) {
        leave_heap(heap[0]);
    }
    simulated_advance_to(waiting != 0 && heap[0]->seen_ns < until_ns ? heap[0]->seen_ns : until_ns);
}

bool simulated_poll(simulated_event *event)
{
    if (event->seen_ns <= now_ns) {
        return true;
    }
    if (event->activity != activity) {
        event->activity = activity;
        event->polls = 0;
    }
    event->polls++;
    if (event->polls >= POLLS) {
        event->polls = 0;
        advance_to_next_end();
    }
    return event->seen_ns <= now_ns;
}
