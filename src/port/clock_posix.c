/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/backend.h>

#include <time.h>

/* Weak, because a program may have its own, and the library may be one object. */
__attribute__((weak)) uint64_t dynsel_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 1; /* never 0 */
}
