/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Error details: the cause behind a status.
 *
 * A failing call stores its details for the calling thread. Details of failed work are kept with
 * the work and stored for the thread that waits for it (dynsel_wait(), dynsel_wait_group(),
 * dynsel_submit_and_wait()).
 */
#ifndef DYNSEL_ERROR_H
#define DYNSEL_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/** All texts are static or live as long as the device they name; the record never owns memory. */
typedef struct dynsel_error {
    dynsel_status status;
    int32_t code;    /**< the device interface's own code, such as a cl_int; 0: none */
    uint32_t number; /**< the value of `{}` in `detail`; `{aspect}` is the name of the aspect with
                        that number, `{target}` of the target with its upper half, `{status}` the
                        text of the status with that number */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    uint32_t buffer; /**< dynsel_buffer.token of the buffer concerned; 0: none */
#endif
    const char
        *function; /**< the call that failed, such as "clEnqueueNDRangeKernel"; NULL: unknown */
    const char *subject; /**< the device, resource or option concerned; NULL: none */
    const char *detail;  /**< the cause and the remedy; NULL: the status is sufficient */
} dynsel_error;

/** The part of a failure that structures of the library keep: all of it, or without
 * CONFIG_DYNSEL_ERROR_DETAILS only the status. */
#if CONFIG_DYNSEL_ERROR_DETAILS
typedef dynsel_error dynsel_kept_error;
#else
typedef struct dynsel_kept_error {
    dynsel_status status;
} dynsel_kept_error;
#endif

/**
 * The details of the last failure that the library reported to this thread, whatever the calls
 * since then returned.
 *
 * Returns: never NULL; status DYNSEL_OK when nothing has failed yet. Valid until the next failure
 *     on this thread. Without CONFIG_DYNSEL_ERROR_TEXTS the three texts of the library's
 *     own failures are NULL; without CONFIG_DYNSEL_ERROR_DETAILS only the status is set.
 * Errors: none.
 * Context: any thread, not interrupts.
 * Cost: constant, no lock.
 */
const dynsel_error *dynsel_last_error(void);

/**
 * Writes an error as one line without a line end, such as `dynsel_submit: a table of fixed size is
 * full: 64 submissions are finished ...`.
 *
 * Control characters in the texts, and bytes that are not UTF-8, become `?`; line ends and tabs of
 * a compiler's log are kept.
 *
 * error: the error to write; NULL: dynsel_last_error().
 * buffer, bytes: the output; always ends in '\0' when bytes > 0, truncated to its size; NULL only
 *     with 0 bytes.
 * Returns: the length of the whole line in bytes without the '\0', as snprintf() does. Without
 *     CONFIG_DYNSEL_STATUS_NAMES the line is empty.
 * Errors: none.
 * Context: any thread.
 * Cost: linear in the length of the line.
 */
size_t dynsel_error_text(const dynsel_error *error, char *buffer, size_t bytes);

#if CONFIG_DYNSEL_STATUS_NAMES || CONFIG_DYNSEL_HAS_HOSTED
/**
 * Copies a text in a form that is safe for a terminal: with `?` for control characters, for bytes
 * that are not UTF-8, and for characters that change the direction of writing or are invisible.
 * Names of devices and of files may contain anything, including escape sequences.
 * dynsel_error_text() and dynsel_resource_name() do this themselves.
 *
 * text: NULL is the empty text.
 * buffer, bytes: the output; ends in '\0', truncated between characters.
 * Returns: buffer; an empty text where that is NULL or has no byte.
 * Errors: none.
 * Context: any.
 * Cost: linear in the text.
 */
const char *dynsel_printable(const char *text, char *buffer, size_t bytes);
#endif

/**
 * Stores `error` as this thread's last error, for task functions, backends and policies with
 * details of a failure: `return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_TASK, .function =
 * "read_sensor", .code = errno});` The library keeps the details with the work when the task
 * function returns the same status.
 *
 * error: copied; its texts must be static or outlive every wait. NULL is DYNSEL_E_INVALID.
 * Returns: error->status.
 * Context: any thread, not interrupts.
 * Cost: constant.
 */
dynsel_status dynsel_fail(const dynsel_error *error);

DYNSEL_END_DECLS

#endif
