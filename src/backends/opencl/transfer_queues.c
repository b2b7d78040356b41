/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/transfer_queues.h"

#include "backends/opencl/events.h"
#include "backends/opencl/timing.h"
#include "port/lock.h"

enum { LARGE_IN = 1 << 20, LARGE_OUT = 16384 }; /* bytes */

/* Under the lock. Without room for both there are none: neither kind of transfer would overlap. */
static dynsel_opencl_transfers make_queues(dynsel_opencl_entry *entry)
{
    cl_int code = CL_SUCCESS;
    const cl_command_queue in = clCreateCommandQueue(entry->context, entry->device, 0, &code);
    if (in == NULL || code != CL_SUCCESS) {
        return DYNSEL_OPENCL_TRANSFERS_REFUSED;
    }
    const cl_command_queue out = clCreateCommandQueue(entry->context, entry->device, 0, &code);
    if (out == NULL || code != CL_SUCCESS) {
        (void)clReleaseCommandQueue(in);
        return DYNSEL_OPENCL_TRANSFERS_REFUSED;
    }
    entry->queue_in = in;
    entry->queue_out = out;
    return DYNSEL_OPENCL_TRANSFERS_BESIDE;
}

static dynsel_opencl_transfers decide(dynsel_opencl_entry *entry)
{
    dynsel_lock_acquire(&dynsel_opencl_lock);
    dynsel_opencl_transfers transfers =
        (dynsel_opencl_transfers)dynsel_word_load_relaxed(&entry->transfers);
    if (transfers == DYNSEL_OPENCL_TRANSFERS_NOT_YET && !dynsel_opencl_is_lost(entry)) {
        transfers = make_queues(entry);
        dynsel_word_store_release(&entry->transfers, transfers);
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return transfers;
}

uint32_t dynsel_opencl_beside_bytes(const dynsel_opencl_entry *entry)
{
    return entry->pins_memory && !entry->adopted &&
                   dynsel_word_load_relaxed(&entry->transfers) != DYNSEL_OPENCL_TRANSFERS_REFUSED
               ? LARGE_OUT
               : 0;
}

/* The program orders the commands on its own queues itself, and may finish them. Staged ranges are
 * what is not pinned by itself. */
static bool moves_beside(dynsel_opencl_entry *entry, const dynsel_memory *memory,
                         size_t least_bytes)
{
    if (memory->bytes < least_bytes || !entry->pins_memory || entry->adopted ||
        memory->pinning == DYNSEL_PINS_NOTHING) {
        return false;
    }
    const uint32_t transfers = dynsel_word_load_acquire(&entry->transfers);
    return (transfers == DYNSEL_OPENCL_TRANSFERS_NOT_YET ? (uint32_t)decide(entry) : transfers) ==
           DYNSEL_OPENCL_TRANSFERS_BESIDE;
}

/* The time of timed work may include its transfers, so they are on its queue. */
cl_command_queue dynsel_opencl_queue_in(dynsel_opencl_entry *entry, const dynsel_memory *memory)
{
    return dynsel_this_thread()->timed_start == NULL && moves_beside(entry, memory, LARGE_IN)
               ? entry->queue_in
               : dynsel_opencl_queue_now(entry);
}

cl_command_queue dynsel_opencl_queue_out(dynsel_opencl_entry *entry, const dynsel_memory *memory)
{
    return moves_beside(entry, memory, LARGE_OUT) ? entry->queue_out : entry->queue;
}

/* Polls flush the device's queue alone, so a transfer of which the flush failed is waited for: that
 * flushes too. */
static dynsel_status wait_instead(dynsel_opencl_entry *entry, cl_int code, cl_event *done)
{
    (void)dynsel_opencl_loses(entry, "clFlush", code);
    const dynsel_status status = dynsel_opencl_wait(entry, *done);
    dynsel_opencl_release_event(entry, *done);
    *done = NULL;
    return status;
}

static bool is_queue_in(const dynsel_opencl_entry *entry, cl_command_queue queue)
{
    return dynsel_word_load_acquire(&entry->transfers) == DYNSEL_OPENCL_TRANSFERS_BESIDE &&
           queue == entry->queue_in;
}

/* Where the barrier is refused, nothing else keeps later commands behind the transfer. */
dynsel_status dynsel_opencl_join_transfer(dynsel_opencl_entry *entry, cl_command_queue queue,
                                          cl_event *done)
{
    if (!is_queue_in(entry, queue)) {
        return DYNSEL_OK;
    }
    const cl_int flushed = clFlush(queue);
    if (flushed != CL_SUCCESS) {
        return wait_instead(entry, flushed, done);
    }
    cl_event moved = *done;
    *done = NULL;
    const cl_int code = clEnqueueBarrierWithWaitList(entry->queue, 1, &moved, done);
    if (code != CL_SUCCESS) {
        *done = NULL;
        (void)dynsel_opencl_loses(entry, "clEnqueueBarrierWithWaitList", code);
        dynsel_opencl_wait_and_release(entry, moved);
        return dynsel_opencl_fail_to_enqueue(entry, "clEnqueueBarrierWithWaitList", code);
    }
    dynsel_opencl_release_event(entry, moved);
    return DYNSEL_OK;
}

dynsel_status dynsel_opencl_start_transfer(dynsel_opencl_entry *entry, cl_command_queue queue,
                                           cl_event *done)
{
    if (queue == entry->queue) {
        (void)dynsel_opencl_flush(entry);
        return DYNSEL_OK;
    }
    const cl_int flushed = clFlush(queue);
    return flushed == CL_SUCCESS ? DYNSEL_OK : wait_instead(entry, flushed, done);
}
