/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "build_progress.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <dynsel/backend.h>

enum {
    PATIENCE_NS = 1000000000,
    COLUMNS = 79 /* a terminal of 80 would go to the next line after the last one */
};

void build_progress(const dynsel_kernel *kernel, const dynsel_resource *where, dynsel_status status,
                    size_t done, size_t total, void *since_ns)
{
    char line[COLUMNS + 1] = "";
    const bool clears = done == total || status != DYNSEL_OK;

    if (dynsel_now_ns() - *(const uint64_t *)since_ns < PATIENCE_NS || !isatty(STDERR_FILENO)) {
        return;
    }
    if (!clears) {
        (void)snprintf(line, sizeof line, "building kernels: %zu of %zu, %s for %s", done, total,
                       kernel->name, dynsel_resource_name(where));
    }
    (void)fprintf(stderr, "\r%-*s%s", COLUMNS, line, clears ? "\r" : "");
    (void)fflush(stderr);
}
