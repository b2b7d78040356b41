/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that is expected on each resource, beside what is queued there: data that are updated
 * again and again stay where they are, so a choice for them is one for their further updates, too.
 * What is expected goes down by as much as the queue goes up when an update comes, so the two
 * together do not depend on the order in which the program submits, and tell when a resource will
 * be done with all that its data need. That is what shares data among resources in the long run;
 * the queue alone would have them moved to and fro.
 */
#include "policies/earliest_finish_sight.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Work of other kinds updates the data, too, where that is known to differ: see
 * uses_ns() in earliest_finish_sight.c. */
static uint64_t update_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    const uint32_t usual_ns = dynsel_word_load_relaxed(&s->policy->states[index].is.usual_ns);
    return s->home != DYNSEL_FINISH_NO_RESOURCE && usual_ns != 0 ? usual_ns : run_ns;
}

/* Within 0 and the longest time. */
static void change(dynsel_finish_resource *resource, uint32_t less, uint32_t more)
{
    uint32_t before = dynsel_word_load_relaxed(&resource->is.expected);
    uint32_t now = 0;
    do {
        const uint32_t rest = before > less ? before - less : 0;
        const uint32_t room = (uint32_t)DYNSEL_FINISH_MOST_TICKS - rest;
        now = rest + (more < room ? more : room);
    } while (now != before && !dynsel_word_swap(&resource->is.expected, &before, now));
}

/* What does not come although the resource has nothing to do is not expected any more: the program
 * may have ended the data, or use them no longer. */
static void forget_what_does_not_come(const dynsel_finish_sight *s)
{
    const uint32_t since = s->now - dynsel_word_load_relaxed(&s->policy->submitted_at);
    for (uint32_t i = 0; i < s->count; i++) {
        dynsel_finish_resource *const resource = &s->policy->states[i];
        if (s->queue_ticks[i] == 0 && dynsel_word_load_relaxed(&resource->is.expected) != 0) {
            change(resource, since, 0);
        }
    }
}

void dynsel_finish_expect(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    dynsel_data_outlook *const data = s->task->data;
    dynsel_finish_resource *const states = s->policy->states;
    if (data == NULL) {
        return;
    }
    if (!s->is_idle) {
        forget_what_does_not_come(s);
    }
    if (data->expected_ns != 0 && data->expected_on < s->count) {
        change(&states[data->expected_on], dynsel_finish_ticks(data->expected_ns), 0);
    }
    data->expected_ns = run_ns != 0 ? s->updates_ahead * update_ns(s, index, run_ns) : 0;
    if (data->expected_ns != 0) {
        change(&states[index], 0, dynsel_finish_ticks(data->expected_ns));
    }
}

#endif
