/* SPDX-License-Identifier: Apache-2.0 */
/** How far the compilers of the devices are, on stderr. */
#ifndef COMMON_BUILD_PROGRESS_H
#define COMMON_BUILD_PROGRESS_H

#include <stddef.h>

#include <dynsel/kernel.h>

/** For dynsel_kernel_prepare(), or called by what it calls: where building takes longer than 1 s
 * and stderr is a terminal, one line that is written anew, such as "building kernels: 3 of 12,
 * scale for NVIDIA H100". It is cleared after the last kernel, and for a failure, so that an error
 * can be printed.
 *
 * since_ns: a const uint64_t *: dynsel_now_ns() when dynsel_kernel_prepare() was called. */
void build_progress(const dynsel_kernel *kernel, const dynsel_resource *where, dynsel_status status,
                    size_t done, size_t total, void *since_ns);

#endif
