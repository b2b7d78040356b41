/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that share one event. NVIDIA's driver takes 1.5 us of the 5.5 of a launch for its event,
 * and in a queue that runs in order the end of a later command tells those of earlier ones. So of
 * kernels that nobody awaits alone only each MOST_JOINED-th has an event, and the work of the
 * others has its batch instead, which gets that event. Who needs an end before that gets a marker
 * behind all that was enqueued; then launches have events of their own for a while, because the
 * marker ends later than the work.
 *
 * A failure is one of the whole batch. That is no loss: where a kernel fails, this driver tells no
 * status of any command of the context. What can fail alone is not in a batch: work with a wait
 * list.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_LAUNCH_BATCHES_H
#define DYNSEL_BACKENDS_OPENCL_LAUNCH_BATCHES_H

#include "backends/opencl/device_table.h"

/* Under a lock of their own. An unused one is all zero. */
struct dynsel_opencl_batch {
    dynsel_opencl_entry *entry;
    cl_event event;    /* NULL: no command with one follows the launches yet */
    uint32_t users;    /* pieces of work that have it in place of an event */
    uint32_t joined;   /* launches, until it is closed */
    uint32_t entering; /* of which so many may not be enqueued yet */
    bool asked;        /* a poll found no event: the next launch gets one */
};

typedef struct dynsel_opencl_launch_place {
    struct dynsel_opencl_batch *batch; /* NULL: the launch has an event of its own */
    bool is_last;                      /* it has the event of the batch */
} dynsel_opencl_launch_place;

/* NULL in programs without command groups. */
extern struct dynsel_opencl_batch dynsel_opencl_batches[CONFIG_DYNSEL_MAX_IN_FLIGHT];
#pragma weak dynsel_opencl_batches
#pragma weak dynsel_opencl_batch_event
#pragma weak dynsel_opencl_batch_event_so_far
#pragma weak dynsel_opencl_leave_batch

/* Before a launch without a wait list in the device's own queue, of work that nobody awaits alone.
 */
dynsel_opencl_launch_place dynsel_opencl_join_batch(dynsel_opencl_entry *entry);

/* After it. event: of the last one; launched: the work has the batch in place of its event. */
void dynsel_opencl_joined_batch(dynsel_opencl_launch_place place, cl_event event, bool launched);

/* The event that tells the end of the batch; the batch keeps it. is_needed: a marker is enqueued if
 * there is none; else *event may be NULL, and the end is not known. Returns OpenCL's code. */
cl_int dynsel_opencl_batch_event(struct dynsel_opencl_batch *batch, bool is_needed,
                                 cl_event *event);

/* The same, but changes nothing; NULL: there is none yet. */
cl_event dynsel_opencl_batch_event_so_far(const struct dynsel_opencl_batch *batch);

/* Before a command that can fail alone: what was launched ends before it. Returns OpenCL's code. */
cl_int dynsel_opencl_end_batch(dynsel_opencl_entry *entry);

/* A piece of work is released. is_lost: the event is kept, see dynsel_opencl_release_event(). */
void dynsel_opencl_leave_batch(struct dynsel_opencl_batch *batch, bool is_lost);

/* In the child of a fork(). */
void dynsel_opencl_batches_forget(void);

/* Of the event of work; NULL: it is an event. */
static inline struct dynsel_opencl_batch *dynsel_opencl_batch_of(cl_event event)
{
    const uintptr_t offset = (uintptr_t)event - (uintptr_t)dynsel_opencl_batches;
    return offset < sizeof(dynsel_opencl_batches)
               ? &dynsel_opencl_batches[offset / sizeof(dynsel_opencl_batches[0])]
               : NULL;
}

#endif
