/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shared virtual memory: memory that the host and devices reach through the same pointers, so that
 * kernels are given the pointer itself (dynsel_set_arg_pointer()) and nothing is copied.
 *
 *     float *data = NULL;
 *     status = dynsel_svm_alloc(where, bytes, 0, (void **)&data);
 *     status = dynsel_svm_map(data, DYNSEL_ACCESS_DISCARD_WRITE);
 *     ...                                 the host fills it in
 *     status = dynsel_svm_unmap(data);
 *     ...                                 command groups use it, and are waited for
 *     status = dynsel_svm_map(data, DYNSEL_ACCESS_READ);
 *     ...                                 the host looks at the results
 *     status = dynsel_svm_unmap(data);
 *     status = dynsel_svm_free(data);
 *
 * Blocks come out of pools of fixed size. There is one for each memory domain (an OpenCL context is
 * one: dynsel makes one for each device, and one for the CPU devices of a platform together):
 * CONFIG_DYNSEL_SVM_POOL_BYTES that the driver makes at the first block. And there is one for
 * resources that work in the host's memory: CONFIG_DYNSEL_SVM_HOST_BYTES inside the library. So the
 * same program runs with devices and without.
 *
 * Who takes a pointer into a block:
 * - the devices of the domain that it was made for; in OpenCL those of another context do not;
 * - resources that work in the host's memory, and devices that reach all of that.
 * Work that was given one pointer into a pool may follow pointers in it to other blocks of the same
 * pool; the library knows nothing of those.
 *
 * Some devices share only memory that is mapped while the host uses it (OpenCL: coarse-grain
 * buffers; aspect ext_opencl_svm_coarse_grain_buffer without usm_shared_allocations). For these a
 * block is the device's until dynsel_svm_map() and again after dynsel_svm_unmap(): devices take it
 * only while it is not mapped, and the host's workers only while it is. On all others the two do
 * nothing; they check the same mistakes, so that a program that calls them is right everywhere.
 *
 * The order of work that uses a block is the caller's: see dynsel_set_arg_pointer().
 *
 * Source: seed 000 (pointers are passed directly to devices); OpenCL 2.0, 5.6 "Shared Virtual
 * Memory".
 */
#ifndef DYNSEL_SVM_H
#define DYNSEL_SVM_H

#include <stddef.h>

#include <dynsel/accessor.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/**
 * Makes a block of shared memory.
 *
 * where: a resource of any policy, or as dynsel_opencl_select() gives it: the block is for the
 *     devices of its memory domain, and for the host.
 * bytes: its size, not 0. It is not zeroed.
 * alignment: in bytes, a power of two; 0: 128, enough for all types of C and OpenCL C.
 * memory: out; unchanged after a failure. The caller's until dynsel_svm_free().
 * Errors: DYNSEL_E_INVALID (NULL; a size of 0; an alignment that is no power of two),
 *     DYNSEL_E_UNSUPPORTED (the device shares no memory with the host: use a buffer; or the backend
 *     does not know the handle), DYNSEL_E_FULL (CONFIG_DYNSEL_SVM_BLOCKS exist; no gap of that size
 *     is left: CONFIG_DYNSEL_SVM_POOL_BYTES or _HOST_BYTES; CONFIG_DYNSEL_MAX_DOMAINS domains have
 *     a pool; the driver has no room for a pool), DYNSEL_E_OUT_OF_SERVICE. Without effect then.
 * May block: while a driver makes a pool.
 * Context: any thread; task functions. Not interrupts.
 * Cost: linear in CONFIG_DYNSEL_SVM_BLOCKS.
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_alloc(const dynsel_resource *where, size_t bytes,
                                              size_t alignment, void **memory);

/**
 * Gives a block back; what is mapped is unmapped.
 *
 * memory: as dynsel_svm_alloc() gave it.
 * Errors: DYNSEL_E_INVALID (anything else, also NULL and what was given back before),
 *     DYNSEL_E_BUSY (work that is not complete was given a pointer into it, or another thread maps
 *     it: wait first). Without effect then. That work uses it only through pointers that it found
 *     in other memory is not noticed.
 * May block: while a driver unmaps.
 * Context: any thread; task functions. Not interrupts.
 * Cost: linear in CONFIG_DYNSEL_SVM_BLOCKS.
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_free(void *memory);

/**
 * Lets the host use a block, until dynsel_svm_unmap(). A look at a table, but for devices whose
 * memory has to be mapped.
 *
 * memory: as dynsel_svm_alloc() gave it.
 * mode: what the host will do. After a mode that only reads, what it writes may be lost; after a
 *     discarding one, what it does not write.
 * Errors: DYNSEL_E_INVALID (no such block; DYNSEL_ACCESS_ATOMIC), DYNSEL_E_BUSY (it is mapped; work
 *     that is not complete was given a pointer into it: wait first), DYNSEL_E_IN_TASK (inside a
 *     task function or group function), DYNSEL_E_DEVICE. Without effect then.
 * May block: where it has to be mapped, until the device has done what was started on it.
 * Context: any thread.
 * Cost: linear in CONFIG_DYNSEL_SVM_BLOCKS.
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_map(void *memory, dynsel_access_mode mode);

/**
 * Gives a mapped block to the devices.
 *
 * Errors: DYNSEL_E_INVALID (no such block; it is not mapped), DYNSEL_E_BUSY (work of the host that
 *     is not complete was given a pointer into it), DYNSEL_E_IN_TASK, DYNSEL_E_DEVICE (it is mapped
 *     still).
 * May block, Context, Cost: as dynsel_svm_map().
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_unmap(void *memory);

DYNSEL_END_DECLS

#endif
