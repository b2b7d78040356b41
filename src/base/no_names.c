/* SPDX-License-Identifier: Apache-2.0 */
/* Empty texts in place of the names and texts of statuses, reasons and errors. */
#include <dynsel/error.h>
#include <dynsel/selection.h>

const char *dynsel_status_name(dynsel_status status)
{
    (void)status;
    return "";
}

const char *dynsel_status_text(dynsel_status status)
{
    (void)status;
    return "";
}

const char *dynsel_reason_text(dynsel_reason reason)
{
    (void)reason;
    return "";
}

size_t dynsel_error_text(const dynsel_error *error, char *buffer, size_t bytes)
{
    (void)error;
    if (buffer != NULL && bytes > 0) {
        buffer[0] = '\0';
    }
    return 0;
}
