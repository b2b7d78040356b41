/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bringing a run's results back took is part of its time. It is known only afterwards, often
 * after later runs: until then it is assumed to be what it was the last time. Runs whose results
 * stay where they are let that fade.
 */
#include "policies/auto_tune_parts.h"

enum {
    RUN = 0x1fff,      /* in dynsel_tuned_resource.timed */
    ASSUMED = 1 << 13, /* the time has brought in it, and not what the run's own took */
    FADING_SHIFT = 2
};

_Static_assert(RUN == UINT32_MAX >> DYNSEL_NOTE_RUN_SHIFT, "a run's number has the bits of a note");

static uint16_t number_of(const dynsel_selection *selection)
{
    return (uint16_t)(selection->notes[0] >> DYNSEL_NOTE_RUN_SHIFT);
}

static void assume(dynsel_tuned_resource *times, dynsel_tuned_time brought)
{
    for (uint32_t i = 0; i < DYNSEL_TUNED_WINDOW; i++) {
        if ((times->timed[i] & ASSUMED) != 0) {
            times->times[i] =
                dynsel_lower(times->times[i] - times->brought + brought, DYNSEL_TUNED_LONGEST);
        }
    }
    times->brought = brought;
}

void dynsel_tuned_note(dynsel_tuned_resource *times, uint32_t place,
                       const dynsel_selection *selection, dynsel_tuned_time time)
{
    if ((times->timed[place] & ASSUMED) != 0) {
        assume(times, times->brought - (times->brought >> FADING_SHIFT));
    }
    times->times[place] = dynsel_lower(time + times->brought, DYNSEL_TUNED_LONGEST);
    times->timed[place] = (uint16_t)(number_of(selection) | ASSUMED);
}

/* Where the run's time still is; a first run's may be in several places. Returns what it is now. */
static dynsel_tuned_time add_in_window(dynsel_tuned_resource *times,
                                       const dynsel_selection *selection,
                                       dynsel_tuned_time readback)
{
    const uint16_t run = number_of(selection);
    dynsel_tuned_time time = 0;
    for (uint32_t i = 0; i < DYNSEL_TUNED_WINDOW; i++) {
        if ((times->timed[i] & RUN) != run || times->timed[i] == 0) {
            continue;
        }
        times->times[i] -= (times->timed[i] & ASSUMED) != 0 ? times->brought : 0;
        times->timed[i] = run;
        time = dynsel_lower(times->times[i] + readback, DYNSEL_TUNED_LONGEST);
        times->times[i] = time;
    }
    return time;
}

static void add_with_exploration(dynsel_tuned_task *entry, const dynsel_selection *selection,
                                 dynsel_tuned_time readback)
{
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    const dynsel_tuned_time time = add_in_window(times, selection, readback);
    const bool is_part = times->brought_run == number_of(selection);
    const dynsel_tuned_time all = is_part ? times->brought + readback : readback;
    times->brought_run = number_of(selection);
    assume(times, dynsel_lower(all, DYNSEL_TUNED_LONGEST));
    dynsel_tuned_look_again(entry, selection->index, time);
}

/* The sum of the times that are counted. */
static void add_to_sum(dynsel_tuned_task *entry, const dynsel_selection *selection,
                       dynsel_tuned_time readback)
{
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    if (times->samples != 0 && (selection->notes[0] & DYNSEL_NOTE_WARM_UP) == 0) {
        times->times[0] =
            dynsel_lower(times->times[0] + readback, times->runs * DYNSEL_TUNED_LONGEST);
        dynsel_tuned_look_again(entry, selection->index, 0);
    }
}

void dynsel_tuned_add(dynsel_tuned_task *entry, const dynsel_selection *selection,
                      uint64_t readback_ns)
{
    const dynsel_tuned_time more = dynsel_tuned_time_of(readback_ns);
    if (DYNSEL_TUNED_EXPLORES) {
        add_with_exploration(entry, selection, more);
    } else {
        add_to_sum(entry, selection, more);
    }
}
