/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What exactly went wrong: the details behind a status.
 *
 * A failing call leaves its details with the calling thread. Details of failed work travel with the
 * work and are left with the thread that waits for it (dynsel_wait(), dynsel_wait_group(),
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
    uint32_t number; /**< what `{}` in `detail` stands for; `{aspect}` is the name of the aspect
                        with that number, `{target}` of the target with its upper half, `{status}`
                        what the status with that number says */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    uint32_t buffer; /**< dynsel_buffer.token of the buffer concerned; 0: none */
#endif
    const char
        *function; /**< the call that failed, such as "clEnqueueNDRangeKernel"; NULL: unknown */
    const char *subject; /**< the device, resource or option concerned; NULL: none */
    const char *detail; /**< what was wrong and what to do about it; NULL: the status says it all */
} dynsel_error;

/** What structures of the library keep of a failure: all of it, or without
 * CONFIG_DYNSEL_ERROR_DETAILS nothing but the status. */
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
 * Where the texts have control characters in them, or bytes that are not UTF-8, the line has `?`;
 * of a compiler's log it has the lines and tabs.
 *
 * error: what to write; NULL stands for dynsel_last_error().
 * buffer, bytes: where to; always ends in '\0' when bytes > 0, cut off where it does not fit; NULL
 *     only with 0 bytes.
 * Returns: the length of the whole line in bytes without the '\0', as snprintf() does. Without
 *     CONFIG_DYNSEL_STATUS_NAMES the line is empty.
 * Errors: none.
 * Context: any thread.
 * Cost: linear in the length of the line.
 */
size_t dynsel_error_text(const dynsel_error *error, char *buffer, size_t bytes);

#if CONFIG_DYNSEL_STATUS_NAMES || CONFIG_DYNSEL_HAS_HOSTED
/**
 * Copies a text as a terminal may get it: with `?` for control characters, for bytes that are not
 * UTF-8, and for characters that turn the direction of writing or have no shape. Names of devices
 * and of files have anything in them, escape sequences too. dynsel_error_text() and
 * dynsel_resource_name() do this by themselves.
 *
 * text: NULL is the empty text.
 * buffer, bytes: where to; ends in '\0', cut between characters where it does not fit.
 * Returns: buffer; an empty text where that is NULL or has no byte.
 * Errors: none.
 * Context: any.
 * Cost: linear in the text.
 */
const char *dynsel_printable(const char *text, char *buffer, size_t bytes);
#endif

/**
 * Leaves `error` as this thread's last error, for task functions, backends and policies that have
 * details to tell: `return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_TASK, .function =
 * "read_sensor", .code = errno});` The library takes the details along with the work when the task
 * function returns that very status.
 *
 * error: copied; its texts must be static or outlive every wait. NULL is DYNSEL_E_INVALID.
 * Returns: error->status.
 * Context: any thread, not interrupts.
 * Cost: constant.
 */
dynsel_status dynsel_fail(const dynsel_error *error);

DYNSEL_END_DECLS

#endif
