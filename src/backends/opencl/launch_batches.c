/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/launch_batches.h"

#include <string.h>

#include "port/pause.h"
#include "port/spinlock.h"

enum {
    QUARTER = CONFIG_DYNSEL_MAX_IN_FLIGHT / 4, /* so that a full table has some that ended */
    SOME = QUARTER > 1 ? QUARTER : 1,
    MOST_JOINED = SOME < 16 ? SOME : 16,
    /* launches with events of their own after a marker; twice as many each time that the next one
     * follows before as many launches were in batches */
    LEAST_APART = 32,
    MOST_APART = 256
};

_Static_assert(sizeof(struct dynsel_opencl_batch) <= 2 * sizeof(void *) + 16,
               "<dynsel/opencl.h> says what a batch takes: say it there, too");

struct dynsel_opencl_batch dynsel_opencl_batches[CONFIG_DYNSEL_MAX_IN_FLIGHT];

static dynsel_spinlock lock;

static struct dynsel_opencl_batch *take_free(dynsel_opencl_entry *entry)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        if (dynsel_opencl_batches[i].entry == NULL) {
            dynsel_opencl_batches[i].entry = entry;
            return &dynsel_opencl_batches[i];
        }
    }
    return NULL;
}

/* Launches join another one from now on. */
static void close_batch(const struct dynsel_opencl_batch *batch)
{
    dynsel_opencl_batching *const batching = &batch->entry->batching;
    batching->open = batching->open == batch ? NULL : batching->open;
}

dynsel_opencl_launch_place dynsel_opencl_join_batch(dynsel_opencl_entry *entry)
{
    dynsel_opencl_batching *const batching = &entry->batching;
    dynsel_opencl_launch_place place = {.batch = NULL};
    dynsel_spinlock_acquire(&lock);
    batching->since++;
    if (batching->apart != 0) {
        batching->apart--;
    } else {
        batching->open = batching->open != NULL ? batching->open : take_free(entry);
        place.batch = batching->open;
    }
    if (place.batch != NULL) {
        place.batch->users++;
        place.batch->entering++;
        place.batch->joined++;
        if (place.batch->joined >= MOST_JOINED || place.batch->asked) {
            close_batch(place.batch);
            /* else one of them may be enqueued behind this one */
            place.is_last = place.batch->entering == 1;
        }
    }
    dynsel_spinlock_release(&lock);
    return place;
}

/* Under the lock. Returns the event to be released, or NULL. */
static cl_event drop_user(struct dynsel_opencl_batch *batch)
{
    cl_event event = NULL;
    batch->users--;
    if (batch->users == 0) {
        close_batch(batch);
        event = batch->event;
        *batch = (struct dynsel_opencl_batch){.entry = NULL};
    }
    return event;
}

void dynsel_opencl_joined_batch(dynsel_opencl_launch_place place, cl_event event, bool launched)
{
    struct dynsel_opencl_batch *const batch = place.batch;
    dynsel_spinlock_acquire(&lock);
    batch->entering--;
    if (place.is_last && launched) {
        batch->event = event;
    }
    if (!launched) {
        (void)drop_user(batch); /* has an event only if others use it */
    }
    dynsel_spinlock_release(&lock);
}

/* Under the lock, which is released meanwhile. The marker is behind the launches of the batch only
 * if all of them are enqueued. */
static cl_int make_event(struct dynsel_opencl_batch *batch)
{
    dynsel_opencl_entry *const entry = batch->entry;
    dynsel_opencl_batching *const batching = &entry->batching;
    close_batch(batch);
    for (uint32_t round = 0; batch->entering != 0; round++) {
        dynsel_spinlock_release(&lock);
        dynsel_pause(round);
        dynsel_spinlock_acquire(&lock);
    }
    if (batch->event != NULL) {
        return CL_SUCCESS;
    }
    const bool is_soon = batching->since < 2 * batching->last_apart;
    const uint32_t more =
        batching->last_apart < MOST_APART ? 2 * batching->last_apart : (uint32_t)MOST_APART;
    batching->last_apart = is_soon ? more : (uint32_t)LEAST_APART;
    batching->apart = batching->last_apart;
    batching->since = 0;
    const cl_int code = clEnqueueMarkerWithWaitList(entry->queue, 0, NULL, &batch->event);
    (void)dynsel_word_add_relaxed(&entry->unflushed, 1);
    return code;
}

cl_int dynsel_opencl_batch_event(struct dynsel_opencl_batch *batch, bool is_needed, cl_event *event)
{
    cl_int code = CL_SUCCESS;
    dynsel_spinlock_acquire(&lock);
    if (batch->event == NULL) {
        const bool may_get_one = batch->entry->batching.open == batch && !batch->asked;
        if (is_needed || !may_get_one) {
            code = make_event(batch);
        } else {
            batch->asked = true;
        }
    }
    *event = batch->event;
    dynsel_spinlock_release(&lock);
    return code;
}

cl_event dynsel_opencl_batch_event_so_far(const struct dynsel_opencl_batch *batch)
{
    dynsel_spinlock_acquire(&lock);
    const cl_event event = batch->event;
    dynsel_spinlock_release(&lock);
    return event;
}

cl_int dynsel_opencl_end_batch(dynsel_opencl_entry *entry)
{
    cl_int code = CL_SUCCESS;
    cl_event unused = NULL;
    dynsel_spinlock_acquire(&lock);
    struct dynsel_opencl_batch *const batch = entry->batching.open;
    if (batch != NULL) {
        batch->users++; /* others may end its work while the lock is released */
        code = make_event(batch);
        unused = drop_user(batch);
    }
    dynsel_spinlock_release(&lock);
    if (unused != NULL) {
        (void)clReleaseEvent(unused);
    }
    return code;
}

void dynsel_opencl_leave_batch(struct dynsel_opencl_batch *batch, bool is_lost)
{
    dynsel_spinlock_acquire(&lock);
    const cl_event event = drop_user(batch);
    dynsel_spinlock_release(&lock);
    if (event != NULL && !is_lost) {
        (void)clReleaseEvent(event);
    }
}

void dynsel_opencl_batches_forget(void)
{
    dynsel_spinlock_release(&lock);
    (void)memset(dynsel_opencl_batches, 0, sizeof(dynsel_opencl_batches));
}
