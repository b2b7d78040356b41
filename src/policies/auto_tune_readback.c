/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bringing a run's results back took is part of its time. It is known only afterwards, often
 * after later runs: until then it is assumed to be what it was the last time. Runs whose results
 * stay where they are let that fade.
 */
#include "policies/auto_tune_parts.h"

enum {
    RUN = 0x1fff,      /* in dynsel_tuned_resource.timed */
    ASSUMED = 1 << 13, /* the time has brought_ns in it, and not what the run's own took */
    FADING_SHIFT = 2
};

_Static_assert(RUN == UINT32_MAX >> DYNSEL_NOTE_RUN_SHIFT, "a run's number has the bits of a note");

static uint16_t number_of(const dynsel_selection *selection)
{
    return (uint16_t)(selection->notes[0] >> DYNSEL_NOTE_RUN_SHIFT);
}

static void assume(dynsel_tuned_resource *times, uint64_t brought_ns)
{
    for (uint32_t i = 0; i < DYNSEL_TUNED_WINDOW; i++) {
        if ((times->timed[i] & ASSUMED) != 0) {
            times->times[i] = dynsel_lower(times->times[i] - times->brought_ns + brought_ns,
                                           DYNSEL_TUNED_LONGEST_NS);
        }
    }
    times->brought_ns = brought_ns;
}

void dynsel_tuned_note(dynsel_tuned_resource *times, uint32_t place,
                       const dynsel_selection *selection, uint64_t time_ns)
{
    if ((times->timed[place] & ASSUMED) != 0) {
        assume(times, times->brought_ns - (times->brought_ns >> FADING_SHIFT));
    }
    times->times[place] = dynsel_lower(time_ns + times->brought_ns, DYNSEL_TUNED_LONGEST_NS);
    times->timed[place] = (uint16_t)(number_of(selection) | ASSUMED);
}

/* Where the run's time still is; a first run's may be in several places. Returns what it is now. */
static uint64_t add_in_window(dynsel_tuned_resource *times, const dynsel_selection *selection,
                              uint64_t readback_ns)
{
    const uint16_t run = number_of(selection);
    uint64_t time_ns = 0;
    for (uint32_t i = 0; i < DYNSEL_TUNED_WINDOW; i++) {
        if ((times->timed[i] & RUN) != run || times->timed[i] == 0) {
            continue;
        }
        times->times[i] -= (times->timed[i] & ASSUMED) != 0 ? times->brought_ns : 0;
        times->timed[i] = run;
        time_ns = dynsel_lower(times->times[i] + readback_ns, DYNSEL_TUNED_LONGEST_NS);
        times->times[i] = time_ns;
    }
    return time_ns;
}

static void add_with_exploration(dynsel_tuned_task *entry, const dynsel_selection *selection,
                                 uint64_t readback_ns)
{
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    const uint64_t time_ns = add_in_window(times, selection, readback_ns);
    const bool is_part = times->brought_run == number_of(selection);
    const uint64_t all_ns = is_part ? times->brought_ns + readback_ns : readback_ns;
    times->brought_run = number_of(selection);
    assume(times, dynsel_lower(all_ns, DYNSEL_TUNED_LONGEST_NS));
    dynsel_tuned_look_again(entry, selection->index, time_ns);
}

/* The sum of the times that are counted. */
static void add_to_sum(dynsel_tuned_task *entry, const dynsel_selection *selection,
                       uint64_t readback_ns)
{
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    if (times->samples != 0 && (selection->notes[0] & DYNSEL_NOTE_WARM_UP) == 0) {
        times->times[0] =
            dynsel_lower(times->times[0] + readback_ns, times->runs * DYNSEL_TUNED_LONGEST_NS);
        dynsel_tuned_look_again(entry, selection->index, 0);
    }
}

void dynsel_tuned_add(dynsel_tuned_task *entry, const dynsel_selection *selection,
                      uint64_t readback_ns)
{
    const uint64_t more_ns = dynsel_lower(readback_ns, DYNSEL_TUNED_LONGEST_NS);
    if (DYNSEL_TUNED_EXPLORES) {
        add_with_exploration(entry, selection, more_ns);
    } else {
        add_to_sum(entry, selection, more_ns);
    }
}
