/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds kernels: from the first that succeeds of the program's binaries, the kernel store, SPIR-V
 * and the source; and keeps the logs of the compilers.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_KERNEL_BUILD_H
#define DYNSEL_BACKENDS_OPENCL_KERNEL_BUILD_H

#include "backends/opencl/kernel_cache.h"
#include "port/likely.h"

/* The same for one that is not built. */
DYNSEL_RARE dynsel_status dynsel_opencl_build_now(dynsel_opencl_entry *entry,
                                                  const dynsel_kernel *kernel,
                                                  dynsel_opencl_kernel *built);

/*
 * Builds a taken kernel; a built kernel costs one comparison.
 *
 * Errors: DYNSEL_E_TASK (it does not compile; the compiler's log is the detail), DYNSEL_E_DEVICE.
 */
static inline dynsel_status dynsel_opencl_build(dynsel_opencl_entry *entry,
                                                const dynsel_kernel *kernel,
                                                dynsel_opencl_kernel *taken)
{
    return DYNSEL_LIKELY(taken->stage == DYNSEL_OPENCL_BUILT)
               ? DYNSEL_OK
               : dynsel_opencl_build_now(entry, kernel, taken);
}

/* The operation `prepare` of dynsel_memory_ops. */
dynsel_status dynsel_opencl_prepare(dynsel_backend *backend, void *own,
                                    const dynsel_kernel *kernel);

/* Removes the build logs of all devices; no kernel is in use. */
void dynsel_opencl_forget_logs(void);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
void dynsel_opencl_logs_renew(void);
#endif

#endif
