/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RUSAGE_THREAD */

#include "port/run_time.h"

#include <sys/resource.h>

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

static uint64_t ns_of(const struct timeval *time)
{
    return ((uint64_t)time->tv_sec * US_PER_S + (uint64_t)time->tv_usec) * NS_PER_US;
}

static dynsel_run_begin look(uint64_t at_ns)
{
    struct rusage usage = {.ru_nvcsw = 0};
    (void)getrusage(RUSAGE_THREAD, &usage);
    return (dynsel_run_begin){.at_ns = at_ns,
                              .used_ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime),
                              .taken = usage.ru_nivcsw,
                              .slept = usage.ru_nvcsw};
}

dynsel_run_begin dynsel_run_begins(void)
{
    return look(dynsel_now_ns());
}

/* Used time has a resolution of 1 us, so it counts only where the processor was taken away. */
uint64_t dynsel_run_ns(const dynsel_run_begin *begin, uint64_t end_ns)
{
    const uint64_t took_ns = end_ns > begin->at_ns ? end_ns - begin->at_ns : 1;
    const dynsel_run_begin end = look(end_ns);
    const uint64_t used_ns = end.used_ns > begin->used_ns ? end.used_ns - begin->used_ns : 1;
    const bool was_taken = end.taken != begin->taken && end.slept == begin->slept;
    return was_taken && used_ns < took_ns ? used_ns : took_ns;
}
