/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues on which copies of buffers move: large ones have two queues of their own, one to the
 * device and one to the host, so that they run beside kernels and beside each other. The device's
 * queue stays the one that orders: later commands on it come after a transfer to the device, and a
 * transfer to the host begins only when the work that wrote the data is known to be complete.
 *
 * On an H100 a 64 MiB write, a 64 MiB read and a kernel take 1.62 ms together; the write and the
 * read 1.25 ms each when alone. The barrier behind a transfer to the device costs 2 us, so those of
 * less than 1 MiB stay on the device's queue. A transfer to the host needs none, and on the
 * device's queue it would wait for all kernels there, and so would the work elsewhere that needs
 * it: those have their queue from 16 KiB on. Shorter ones are borders and sums, which the next work
 * on the device needs too.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_TRANSFER_QUEUES_H
#define DYNSEL_BACKENDS_OPENCL_TRANSFER_QUEUES_H

#include <dynsel/memory.h>

#include "backends/opencl/device_table.h"

/* Transfers to the host of so many bytes or more move beside work; 0: none. */
uint32_t dynsel_opencl_beside_bytes(const dynsel_opencl_entry *entry);

/* The queue for a transfer to the device, of an open device, for the work that this thread starts;
 * after an enqueue on it dynsel_opencl_join_transfer() follows. Makes the queues for large
 * transfers at the first. Always the device's queue, or that of timed work, for staged ranges:
 * earlier work there may write the same memory of the host's, and its order is all that keeps the
 * two apart. */
cl_command_queue dynsel_opencl_queue_in(dynsel_opencl_entry *entry, const dynsel_memory *memory);

/* The same for a copy of a buffer, to the host; dynsel_opencl_start_transfer() follows. */
cl_command_queue dynsel_opencl_queue_out(dynsel_opencl_entry *entry, const dynsel_memory *memory);

/* Has all commands that are enqueued later on the device's queue come after the transfer. done: in
 * and out, its event; then one of the device's queue that includes the transfer, or NULL if the
 * transfer is complete. After a failure the transfer is complete, and there is no event. */
dynsel_status dynsel_opencl_join_transfer(dynsel_opencl_entry *entry, cl_command_queue queue,
                                          cl_event *done);

/* Flushes the queue of a transfer to the host. done: in and out; NULL if the transfer is complete.
 * After a failure there is no event. */
dynsel_status dynsel_opencl_start_transfer(dynsel_opencl_entry *entry, cl_command_queue queue,
                                           cl_event *done);

#endif
