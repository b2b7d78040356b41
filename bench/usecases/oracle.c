/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* the number of processors */

#include "oracle.h"

#include <stdio.h>
#include <unistd.h>

#include "log.h"

#if CONFIG_DYNSEL_ASPECTS
static size_t smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

static void note_processors(schedule_machine *machine, const resources *r)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    machine->processor_count = smaller(online > 0 ? (size_t)online : 1, SCHEDULE_MOST_PROCESSORS);
    for (size_t i = 0; i < r->count; i++) {
        dynsel_device device;
        log_check(dynsel_resource_describe(&r->table[i], &device) == DYNSEL_OK, "the processors");
        const size_t own = device.processors != DYNSEL_PROCESSORS_ELSEWHERE ? device.processors : 0;
        machine->processors[i] = (uint32_t)smaller(own, machine->processor_count);
    }
}
#else
/* Devices do not describe themselves: none is known to share processors. */
static void note_processors(const schedule_machine *machine, const resources *r)
{
    (void)machine;
    (void)r;
}
#endif

static schedule_plan plan_of(const schedule *s, const schedule_machine *machine)
{
    schedule_plan plan;
    log_check(schedule_make(s, machine, &plan) == SCHEDULE_OK, "the oracle's schedule");
    return plan;
}

schedule_plan oracle_plan(const schedule *s, schedule_machine *machine, const resources *r)
{
    const double apart_ns = plan_of(s, machine).makespan_ns;
    note_processors(machine, r);
    const schedule_plan plan = plan_of(s, machine);
    if (plan.makespan_ns > apart_ns) {
        printf(
            "The oracle takes %.2f times as long as if all resources had their own processors.\n",
            plan.makespan_ns / apart_ns);
    }
    return plan;
}
