/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL devices with a kernel that counts; without the backend there are none. */
#ifndef SOAK_DEVICE_H
#define SOAK_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/task.h>

/* Adds the devices' resources to the table; returns how many there are in it then. */
size_t soak_open_devices(dynsel_resource *resources, size_t count, size_t capacity);

/* Enqueues the kernel on a device of the table, as task functions do. */
dynsel_status soak_enqueue(const dynsel_resource *where, dynsel_event *done);

/* How often all kernels ran, as the devices counted. The devices are idle. */
uint64_t soak_count_kernels(void);

/* True when the backend has nothing in use any more. */
int soak_close_devices(void);

#endif
