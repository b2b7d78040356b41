/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend whose work completes when the test says so, with an in-order queue behind each handle.
 * It counts every call, and catches an event that is released twice, used after its release or
 * after its resource was given up, or never released.
 */
#ifndef DYNSEL_TESTS_MANUAL_BACKEND_H
#define DYNSEL_TESTS_MANUAL_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>

#include <dynsel/backend.h>

enum {
    MANUAL_EVENTS = CONFIG_DYNSEL_HAS_MUCH_RAM ? 65536 : 320,
    MANUAL_QUEUES = 4,
    MANUAL_MANY_LOOKS = 100
};

typedef enum manual_state {
    MANUAL_UNUSED,
    MANUAL_RUNNING,
    MANUAL_COMPLETE,
    MANUAL_FAILED,
    MANUAL_GIVEN_UP,
    MANUAL_RELEASED
} manual_state;

typedef struct manual_queue {
    atomic_bool refuses; /* start is DYNSEL_E_OUT_OF_SERVICE */
    atomic_bool is_full; /* start is DYNSEL_E_AGAIN */
    atomic_uint room;    /* so it is beside this many events that are not released; 0: no limit */
    atomic_uint held;    /* events that are not released */
    bool refuses_attach;
    bool ends_at_start; /* its work is over when start returns */
    atomic_int attached;
    atomic_uint newest_waited; /* 1 + number of the newest event that was waited for */
} manual_queue;

typedef struct manual_event {
    _Atomic manual_state state;
    atomic_uchar looks; /* polls while it ran */
    manual_queue *queue;
} manual_event;

typedef struct manual_backend {
    dynsel_backend backend;
    manual_queue queues[MANUAL_QUEUES];
    manual_event events[MANUAL_EVENTS];
    atomic_uint event_count;
    atomic_uint starts, polls, waits, releases;
    atomic_uint mistakes; /* double releases, uses of released or given up events */
    atomic_bool
        wait_completes; /* a wait, or MANUAL_MANY_LOOKS polls, complete everything up to its event,
                           as a device would in time */
} manual_backend;

/* poll_synchronizes: which kind of backend it is. Forgets everything before. */
void manual_backend_reset(manual_backend *backend, bool poll_synchronizes);

dynsel_resource manual_resource(manual_backend *backend, unsigned queue);

/* For task functions: an event of `where`'s queue that is running. */
manual_event *manual_event_new(manual_backend *backend, const dynsel_resource *where);

/* A task function that leaves a running event. */
dynsel_status manual_enqueue(const dynsel_resource *where, void *args, dynsel_event *done);

/* The events in the order in which they were made. */
void manual_complete(manual_backend *backend, unsigned event);
void manual_fail(manual_backend *backend, unsigned event);

/* Every event was released exactly once, and none was touched afterwards. */
void manual_assert_clean(manual_backend *backend);

/* Whether waiting has made the results of `event` visible. */
bool manual_is_synchronized(manual_backend *backend, unsigned event);

#endif
