/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stddef.h>

#include <dynsel/error.h>

void log_check(bool good, const char *what)
{
    if (!good) {
        char text[512];
        (void)dynsel_error_text(NULL, text, sizeof text);
        log_exit(STATUS_FAILED, "%s: %s", what, text);
    }
}
