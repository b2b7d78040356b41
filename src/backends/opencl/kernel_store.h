/* SPDX-License-Identifier: Apache-2.0 */
/* The program's store for compiled kernels, see dynsel_opencl_set_kernel_store(). */
#ifndef DYNSEL_BACKENDS_OPENCL_KERNEL_STORE_H
#define DYNSEL_BACKENDS_OPENCL_KERNEL_STORE_H

#include <stdbool.h>

#include <dynsel/kernel.h>

#include "backends/opencl/device_table.h"

/* Whether a store is set, and the kernel has a form that must be compiled. */
bool dynsel_opencl_store_is_for(const dynsel_kernel *kernel);

/* Loads the binary of this kernel and device into the store's scratch memory, and locks the store
 * until dynsel_opencl_store_close(), which must follow. NULL: no binary, or a damaged one. */
const void *dynsel_opencl_store_open(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                     size_t *bytes);
void dynsel_opencl_store_close(void);

/* Saves the binary of a built program, if a store is set and the binary fits. */
void dynsel_opencl_store_save(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                              cl_program program);

/* Removes the store. */
void dynsel_opencl_store_forget(void);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). The store stays set. */
void dynsel_opencl_store_renew(void);
#endif

#endif
