/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_BUILD_H
#define DYNSEL_BACKENDS_OPENCL_BUILD_H

#include "backends/opencl/kernels.h"

/*
 * Builds a taken kernel if that was not done yet. One look once it is built.
 *
 * Errors: DYNSEL_E_TASK (it does not compile: the log is the detail), DYNSEL_E_DEVICE.
 */
dynsel_status dynsel_opencl_build(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                  dynsel_opencl_kernel *taken);

/* The operation of dynsel_memory_ops. */
dynsel_status dynsel_opencl_prepare(dynsel_backend *backend, void *own,
                                    const dynsel_kernel *kernel);

#endif
