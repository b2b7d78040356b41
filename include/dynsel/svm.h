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
 *     ...                                 the host reads the results
 *     status = dynsel_svm_unmap(data);
 *     status = dynsel_svm_free(data);
 *
 * Blocks are allocated from pools of fixed size. Each memory domain has a pool (an OpenCL context
 * is a domain: dynsel makes one for each device, and one for the CPU devices of a platform
 * together): CONFIG_DYNSEL_SVM_POOL_BYTES that the driver allocates at the first block. Resources
 * that work in the host's memory have one pool: CONFIG_DYNSEL_SVM_HOST_BYTES inside the library. So
 * the same program runs with devices and without.
 *
 * A pointer into a block is accepted by:
 * - the devices of the domain that it was allocated for; in OpenCL not those of another context;
 * - resources that work in the host's memory, and devices that reach all of the host's memory.
 * Work that was given one pointer into a pool may follow pointers in it to other blocks of the same
 * pool; the library does not track those.
 *
 * Some devices share only memory that is mapped while the host uses it (OpenCL: coarse-grain
 * buffers; aspect ext_opencl_svm_coarse_grain_buffer without usm_shared_allocations). For these a
 * block belongs to the device until dynsel_svm_map() and again after dynsel_svm_unmap(): devices
 * accept it only while it is not mapped, and the host's workers only while it is. On all other
 * devices the two calls do nothing but the same error checks, so that a program that calls them is
 * portable.
 *
 * The order of work that uses a block is the caller's: see dynsel_set_arg_pointer().
 *
 * A resource that was given up (see <dynsel/resource_states.h>) may use the blocks of its work for
 * ever, so the host does not get them any more (DYNSEL_E_GIVEN_UP): free them. Their memory is not
 * used again. Nothing tells that of blocks that work reached only through pointers in others, and
 * the library does not know when a worker is done with such a block: it stays out of use.
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
 * Allocates a block of shared memory.
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
 *     a pool; the driver has no room for a pool), DYNSEL_E_OUT_OF_SERVICE (the device is lost, was
 *     given up, or does not open). Without effect then.
 * May block: while a driver allocates a pool.
 * Context: any thread; task functions. Not interrupts.
 * Cost: linear in CONFIG_DYNSEL_SVM_BLOCKS.
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_alloc(const dynsel_resource *where, size_t bytes,
                                              size_t alignment, void **memory);

/**
 * Frees a block; a mapped block is unmapped.
 *
 * memory: as dynsel_svm_alloc() gave it.
 * Errors: DYNSEL_E_INVALID (anything else, also NULL and a block that was freed before),
 *     DYNSEL_E_BUSY (work that is not complete was given a pointer into it, or another thread maps
 *     it: wait first). Without effect then. Use by work only through pointers found in other memory
 *     is not detected. A block that a resource which was given up may still use is freed, too, but
 *     its memory is not used again; where the device is not lost, that takes one of
 *     CONFIG_DYNSEL_SVM_BLOCKS for good.
 * May block: while a driver unmaps.
 * Context: any thread; task functions. Not interrupts.
 * Cost: linear in CONFIG_DYNSEL_SVM_BLOCKS.
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_free(void *memory);

/**
 * Lets the host use a block, until dynsel_svm_unmap(). A table lookup, except for devices whose
 * memory must be mapped.
 *
 * memory: as dynsel_svm_alloc() gave it.
 * mode: the host's access. After a mode that only reads, its writes may be lost; after a discarding
 *     mode, the elements that it does not write.
 * Errors: DYNSEL_E_INVALID (no such block; DYNSEL_ACCESS_ATOMIC), DYNSEL_E_BUSY (it is mapped; work
 *     that is not complete was given a pointer into it: wait first), DYNSEL_E_IN_TASK (inside a
 *     task function or group function), DYNSEL_E_DEVICE, DYNSEL_E_GIVEN_UP (a resource that was
 *     given up may still use it). Without effect then.
 * May block: where it has to be mapped, until the device has completed the work started on it. If
 *     that hangs, until the device is given up, where work with a time limit is in flight when the
 *     call begins; else for ever.
 * Context: any thread.
 * Cost: linear in CONFIG_DYNSEL_SVM_BLOCKS.
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_map(void *memory, dynsel_access_mode mode);

/**
 * Gives a mapped block to the devices.
 *
 * Errors: DYNSEL_E_INVALID (no such block; it is not mapped), DYNSEL_E_BUSY (work of the host that
 *     is not complete was given a pointer into it), DYNSEL_E_IN_TASK, DYNSEL_E_DEVICE and
 *     DYNSEL_E_GIVEN_UP (it is mapped still).
 * May block, Context, Cost: as dynsel_svm_map().
 */
DYNSEL_CHECKED dynsel_status dynsel_svm_unmap(void *memory);

DYNSEL_END_DECLS

#endif
