/* SPDX-License-Identifier: Apache-2.0 */
/* The user's store for what compilers made. */
#ifndef DYNSEL_BACKENDS_OPENCL_STORE_H
#define DYNSEL_BACKENDS_OPENCL_STORE_H

#include <stdbool.h>

#include <dynsel/kernel.h>

#include "backends/opencl/table.h"

/* Whether there is a store, and something to compile that could come out of it. */
bool dynsel_opencl_store_is_for(const dynsel_kernel *kernel);

/* The binary that was saved for this kernel and device, in the store's scratch memory until
 * dynsel_opencl_store_close(), which has to follow; NULL: none that is whole. */
const void *dynsel_opencl_store_open(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                     size_t *bytes);
void dynsel_opencl_store_close(void);

/* Saves the binary of a program that was built, if there is a store and it fits. */
void dynsel_opencl_store_save(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                              cl_program program);

/* There is no store any more. */
void dynsel_opencl_store_forget(void);

#endif
