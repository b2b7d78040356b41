/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Host accessors: the only way to a buffer's data from the program itself.
 *
 *     dynsel_host_accessor seen = {0};
 *     if (dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ) == DYNSEL_OK) {
 *         use((const int *)seen.data);
 *         status = dynsel_host_accessor_close(&seen);
 *     }
 *
 * It has its place in the order of the command groups: it waits for those that were submitted
 * before and conflict with it, and those that are submitted while it is open wait for its end.
 *
 * It stays open until any thread closes it: also when the thread that opened it has ended
 * meanwhile. Until then waiting calls wait for it, as for the accessor of any other thread; the
 * _for() forms bound the wait.
 *
 * Source: seed 001.
 */
#ifndef DYNSEL_HOST_ACCESSOR_H
#define DYNSEL_HOST_ACCESSOR_H

#include <dynsel/accessor.h>
#include <dynsel/submission.h>

DYNSEL_BEGIN_DECLS

/** An open access of the host's to a buffer; all zero: not open. */
typedef struct dynsel_host_accessor {
    void *data;   /**< the first element of the buffer or of the part, while it is open; not NULL */
    size_t bytes; /**< from there to the end of the last element of the buffer or of the part */
    size_t row_pitch;             /**< bytes from one row to the next */
    size_t slice_pitch;           /**< bytes from one slice to the next */
    dynsel_submission submission; /**< the library's own */
} dynsel_host_accessor;

/**
 * Waits until the data are in the host's memory, and returns a pointer to them.
 *
 * accessor: out; all zero before.
 * buffer: the buffer to access; it cannot be ended while the accessor is open.
 * mode: with DYNSEL_ACCESS_READ, others may read at the same time. A discarding mode moves nothing.
 * Errors: DYNSEL_E_INVALID (NULL, no buffer, an accessor that is open), DYNSEL_E_STALE (the buffer
 *     was ended), DYNSEL_E_DEPENDENCY (work that had begun to write the data failed: open with a
 *     discarding mode to replace them; or work failed that was to write them and did not begin, and
 *     this access was ordered behind it: open again), DYNSEL_E_DEVICE (the only valid copy could
 *     not be copied back: open again, unless its device is lost; the error has device, function,
 *     code and buffer), DYNSEL_E_FULL (no slot of CONFIG_DYNSEL_MAX_IN_FLIGHT can become free),
 *     DYNSEL_E_BUSY (it conflicts with a host accessor that this thread has open: waiting would
 *     deadlock), DYNSEL_E_IN_TASK (inside a task function or group function).
 * May block: yes.
 * Context: any thread.
 * Cost: a slot while it is open; a copy of the whole buffer if another domain has the only valid
 *     copy.
 */
DYNSEL_CHECKED dynsel_status dynsel_host_accessor_open(dynsel_host_accessor *accessor,
                                                       dynsel_buffer buffer,
                                                       dynsel_access_mode mode);

/**
 * dynsel_host_accessor_open() of a part of a buffer: a discarding mode keeps the elements outside
 * of the part. Order and copies are those of the whole buffer, because the library knows for each
 * buffer, and not for its parts, who uses it and where it is valid: the call waits as
 * dynsel_host_accessor_open() does, also for work that uses other parts, copies the whole buffer
 * where the host's memory is out of date, and copies nothing where it is not.
 *
 * range: the elements of the part, in as many dimensions as the buffer has; all zero: all. A size
 *     may be 0.
 * offset: its first element; all zero: the first of the buffer.
 * Errors: those of dynsel_host_accessor_open(), and DYNSEL_E_INVALID (other dimensions; a part that
 *     reaches past the end of the buffer; an offset past the end, also with a range of 0).
 * Source: SYCL 2020, 4.7.6.10 "Host accessor": ranged accessors.
 */
DYNSEL_CHECKED dynsel_status dynsel_host_accessor_open_part(dynsel_host_accessor *accessor,
                                                            dynsel_buffer buffer,
                                                            dynsel_access_mode mode,
                                                            dynsel_range range,
                                                            dynsel_range offset);

/** dynsel_host_accessor_open_part() that gives up after a time, as
 * dynsel_host_accessor_open_for(). */
DYNSEL_CHECKED dynsel_status dynsel_host_accessor_open_part_for(
    dynsel_host_accessor *accessor, dynsel_buffer buffer, dynsel_access_mode mode,
    dynsel_range range, dynsel_range offset, uint64_t timeout_ns);

/**
 * dynsel_host_accessor_open() that gives up after a time.
 *
 * timeout_ns: nanoseconds from now on; 0 checks once.
 * Errors: those of dynsel_host_accessor_open(), and DYNSEL_E_TIMEOUT; nothing is open then.
 */
DYNSEL_CHECKED dynsel_status dynsel_host_accessor_open_for(dynsel_host_accessor *accessor,
                                                           dynsel_buffer buffer,
                                                           dynsel_access_mode mode,
                                                           uint64_t timeout_ns);

/**
 * Ends the access: waiting work may continue. Zeroes the accessor.
 *
 * Errors: DYNSEL_E_INVALID (NULL), DYNSEL_E_STALE (not open).
 * May block: no.
 * Context: any thread, one at a time for one accessor.
 */
DYNSEL_CHECKED dynsel_status dynsel_host_accessor_close(dynsel_host_accessor *accessor);

DYNSEL_END_DECLS

#endif
