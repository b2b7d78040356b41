/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without an operating system: the library's own clock. */
#ifndef DYNSEL_TESTS_POSIX_TIME_H
#define DYNSEL_TESTS_POSIX_TIME_H

#include <stdint.h>

#include <dynsel/backend.h>

#include "board.h"

typedef int64_t test_time;
#define time_t test_time

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};

static inline int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    const uint64_t ns = (uint64_t)wanted->tv_sec * 1000000000u + (uint64_t)wanted->tv_nsec;
    const uint64_t begin = dynsel_now_ns();
    (void)left;
    while (dynsel_now_ns() - begin < ns) {
    }
    return 0;
}

static inline time_t time(time_t *now)
{
    (void)now;
    return board_seconds();
}

#endif
