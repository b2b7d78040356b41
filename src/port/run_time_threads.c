/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RUSAGE_THREAD */

#include "port/run_time.h"

#include <sys/resource.h>

enum { US_PER_S = 1000000, NS_PER_US = 1000, RESOLUTION_NS = 2 * NS_PER_US };

static uint64_t ns_of(const struct timeval *time)
{
    return ((uint64_t)time->tv_sec * US_PER_S + (uint64_t)time->tv_usec) * NS_PER_US;
}

static dynsel_run_begin look(void)
{
    struct rusage usage = {.ru_nvcsw = 0};
    (void)getrusage(RUSAGE_THREAD, &usage);
    return (dynsel_run_begin){.used_ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime),
                              .taken = usage.ru_nivcsw,
                              .slept = usage.ru_nvcsw};
}

dynsel_run_begin dynsel_run_begins(void)
{
    dynsel_run_begin begin = look();
    begin.at_ns = dynsel_now_ns(); /* the system call is not the work's time */
    return begin;
}

/* Used times have errors up to RESOLUTION_NS. So they count only where the processor was taken
 * away, and with that added. */
uint64_t dynsel_run_ns(const dynsel_run_begin *begin, uint64_t end_ns)
{
    const uint64_t took_ns = end_ns > begin->at_ns ? end_ns - begin->at_ns : 1;
    const dynsel_run_begin end = look();
    const uint64_t used_ns = end.used_ns - begin->used_ns + RESOLUTION_NS;
    const bool was_taken = end.taken != begin->taken && end.slept == begin->slept;
    return was_taken && used_ns < took_ns ? used_ns : took_ns;
}
