/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { PAGE = 4096 };

void *memory_allocate(size_t bytes)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, whole);
    if (memory != NULL) {
        return memset(memory, 0, whole);
    }
    log_exit(STATUS_FAILED, "the host has no memory for %zu KiB", bytes >> 10);
}
