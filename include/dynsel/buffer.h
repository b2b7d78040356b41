/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Buffers: data that follow the selected device.
 *
 * A buffer is memory of the host's and, for each memory domain that used it, a copy there (one
 * OpenCL context is a domain; the host and its workers are one). The library knows which copies are
 * valid, and copies data only to domains where a command group needs them and they are not
 * resident. While a buffer exists its memory may be accessed only through accessors: the data in
 * the host's memory may be out of date, until a host accessor is open or the buffer has been
 * deinitialized. <dynsel/opencl.h> has buffers over memory that the program allocated on a device,
 * which begin and end there.
 *
 * What survives a failure: work that did not begin changes nothing (a kernel that does not build,
 * wrong arguments, a refused enqueue, a full table, something that it depends on failed). A
 * transfer that failed leaves the data where they were; DYNSEL_FETCH_ATTEMPTS of them are tried,
 * and then the next access tries again. Contents are lost where work had begun to write them and
 * failed, and where the device with the only valid copy is permanently lost. Then accesses fail
 * until a discarding write replaces the contents. The error has the device, its function and code,
 * and the buffer
 * (dynsel_error.buffer).
 *
 * Source: seed 001.
 */
#ifndef DYNSEL_BUFFER_H
#define DYNSEL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/range.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/** A handle of a buffer: a value that may be copied. All zero: no buffer. A copy that outlives the
 * buffer is detected (DYNSEL_E_STALE). */
typedef struct dynsel_buffer {
    uint32_t token;
} dynsel_buffer;

/**
 * Makes a buffer over the caller's memory.
 *
 * buffer: out; all zero before.
 * data: the memory of the elements, and of the results after dynsel_buffer_deinit(). Must stay, and
 *     must be accessed only through host accessors, until then. NULL: memory inside the
 *     library, CONFIG_DYNSEL_BUFFER_INSIDE_BYTES long, all zero. An OpenCL device that shares the
 *     host's memory uses `data` itself where it is aligned well enough (4096 bytes always is).
 * element_bytes: size of one element, in bytes; not 0.
 * range: how many elements there are, 1 to 3 dimensions. A size may be 0: the buffer has no
 *     elements then, orders command groups like any other, and is never copied; kernels on devices
 *     get a null pointer.
 * Errors: DYNSEL_E_INVALID (NULL; a handle that is not all zero; elements of 0 bytes; more bytes
 *     than an object can have), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_BUFFERS exist, or data is NULL and
 *     the elements need more than CONFIG_DYNSEL_BUFFER_INSIDE_BYTES). Without effect then.
 * May block: no.
 * Context: any thread; task functions. Not interrupts.
 * Cost: a check of each entry of the table that was in use before the first free one at the last
 *     call; nothing is copied or allocated.
 */
DYNSEL_CHECKED dynsel_status dynsel_buffer_init(dynsel_buffer *buffer, void *data,
                                                size_t element_bytes, dynsel_range range)
    DYNSEL_TAGGED("dynsel_buffer_init");

/**
 * Ends a buffer: copies the results to the host's memory, releases the copies on devices, and
 * zeroes the handle.
 *
 * Errors: DYNSEL_E_BUSY (a command group that is not complete, or an open host accessor, uses it;
 *     nothing was changed), DYNSEL_E_STALE (ended before), DYNSEL_E_INVALID (NULL, all zero, no
 *     handle at all), DYNSEL_E_IN_TASK (inside a task function or group function). With
 *     DYNSEL_E_DEVICE, the results could not be copied back; where the device still has them, the
 *     buffer is unchanged, the handle is not zeroed, and another call may succeed. (To discard
 *     them, call dynsel_buffer_discard().) The buffer is gone although the call failed, the handle
 *     is zeroed, and the contents of the host's memory are undefined, with DYNSEL_E_DEPENDENCY and
 *     with DYNSEL_E_DEVICE where the device with the only valid copy is lost. DYNSEL_E_DEPENDENCY:
 *     work that had begun to write it failed; or a resource that was given up (see
 *     <dynsel/resource_states.h>) may still use `data`, because its work used the buffer in
 *     any mode, or data were being copied back. Then the text of the error says "may still use its
 *     memory", and the program leaves `data` alone until it ends: the resource may
 *     read and write there at any time, also what was written later. Memory inside the library is
 *     not used again then: CONFIG_DYNSEL_MAX_BUFFERS loses a place. A worker that has
 *     returned uses the memory no longer; a buffer that is ended after that is not concerned.
 * May block: while results are copied back; and until the end of each command group that has used
 *     it is known to the library, where later ones that were ordered after it are complete: another
 *     thread is telling it, or the device has not told it yet.
 * Context: any thread.
 * Cost: a check of each command group that used the buffer and was not known to be complete when
 *     later ones were ordered after it, and of each memory domain; three short locks, one more for
 *     each copy; for each command group that is not known to be complete then, that of
 *     dynsel_submission_poll() and a lock more; while workers run work that was given up, linear in
 *     CONFIG_DYNSEL_MAX_IN_FLIGHT.
 */
DYNSEL_CHECKED dynsel_status dynsel_buffer_deinit(dynsel_buffer *buffer);

/**
 * Ends a buffer as dynsel_buffer_deinit() does, but discards the results: nothing is copied to the
 * host's memory, whose contents are undefined afterwards. For intermediate data, and where the
 * results of failed or lost work are not wanted: that work failed before is no error here.
 *
 * Errors: DYNSEL_E_BUSY, DYNSEL_E_STALE, DYNSEL_E_INVALID and DYNSEL_E_IN_TASK as
 *     dynsel_buffer_deinit(). With DYNSEL_E_DEPENDENCY the buffer is gone, and a resource that was
 *     given up may still use its memory, as described there.
 * May block: while a copy to the host runs that an earlier use began; and for ends of command
 *     groups that are not known yet, as dynsel_buffer_deinit().
 * Context: any thread.
 * Cost: as dynsel_buffer_deinit() of a buffer that no device has written.
 * Source: SYCL 2020, 4.7.2 "Buffers", set_final_data(nullptr) and set_write_back(false).
 */
DYNSEL_CHECKED dynsel_status dynsel_buffer_discard(dynsel_buffer *buffer);

/** Counts of copies made and avoided. Wraps like any unsigned number. */
typedef struct dynsel_movement {
    uint64_t bytes_in;       /**< from the host's memory into devices' */
    uint64_t bytes_out;      /**< from devices' into the host's */
    uint32_t copies_in;      /**< number of copies in */
    uint32_t copies_out;     /**< number of copies out */
    uint32_t copies_avoided; /**< uses that found valid data, or needed none, or share the memory */
    uint64_t bytes_pinned; /**< of bytes_in and bytes_out, those that the device read from or wrote
                                to pinned memory of the host's; see <dynsel/opencl.h> */
    uint32_t pins_refused; /**< copies whose memory on the host the driver did not pin; they move
                                more slowly */
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    uint32_t copies_passed; /**< number of copies between the memories of two devices */
    uint64_t bytes_passed;  /**< from one device's memory into another's, without the host's: in
                                 neither bytes_in nor bytes_out; both domains count them */
#endif
} dynsel_movement;

/**
 * The copies made for one buffer.
 *
 * movement: out; not NULL.
 * Errors: DYNSEL_E_INVALID (NULL, all zero, no handle at all), DYNSEL_E_STALE.
 * May block: no.
 * Context: any thread.
 * Cost: linear in CONFIG_DYNSEL_MAX_DOMAINS.
 */
DYNSEL_CHECKED dynsel_status dynsel_buffer_movement(dynsel_buffer buffer,
                                                    dynsel_movement *movement);

/**
 * The copies into and out of the memory domain of a resource, over all buffers so far.
 *
 * where: a resource of any policy; the result is all zero for resources that share the host's
 * memory.
 * movement: out; not NULL.
 * Errors: DYNSEL_E_INVALID (NULL).
 * May block: no.
 * Context: any thread.
 * Cost: linear in CONFIG_DYNSEL_MAX_DOMAINS.
 */
DYNSEL_CHECKED dynsel_status dynsel_domain_movement(const dynsel_resource *where,
                                                    dynsel_movement *movement);

DYNSEL_END_DECLS

#endif
