/* SPDX-License-Identifier: Apache-2.0 */
/* What earliest_finish saw when it chose, for the trace. */
#include "policies/earliest_finish_sight.h"

static void put(dynsel_trace_event event, const dynsel_finish_sight *s, uint32_t index,
                uint64_t low, uint64_t high)
{
    dynsel_trace_put(event, dynsel_traced_place(s->selection->policy, index, s->selection->piece),
                     low, high);
}

void dynsel_sight_put(const dynsel_finish_sight *s)
{
    put(DYNSEL_TRACE_SIGHT, s, DYNSEL_TRACE_NO_RESOURCE, s->now_ns,
        dynsel_trace_pair((uint32_t)s->candidates, s->uses_ahead + 1));
#if CONFIG_DYNSEL_COMMAND_GROUPS
    const dynsel_data_outlook *const data = s->task->data;
    if (data == NULL) {
        return;
    }
    const uint32_t items = data->work_items < UINT32_MAX ? (uint32_t)data->work_items : UINT32_MAX;
    put(DYNSEL_TRACE_READY, s, DYNSEL_TRACE_NO_RESOURCE, data->ready_ns,
        dynsel_trace_pair(data->ready_on, items));
    for (uint32_t i = 0; i < s->policy->policy.count; i += 2) {
        const bool has_next = i + 1 < s->policy->policy.count;
        put(DYNSEL_TRACE_BYTES_IN, s, i, data->bytes_in[i], has_next ? data->bytes_in[i + 1] : 0);
    }
#endif
}

void dynsel_sight_put_estimate(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                               uint64_t cost_ns)
{
    put(DYNSEL_TRACE_ESTIMATE, s, index,
        dynsel_trace_pair(dynsel_trace_units(dynsel_sight_start_ns(s, index)),
                          dynsel_trace_units(dynsel_sight_copy_ns(s, index))),
        dynsel_trace_pair(dynsel_trace_units(run_ns), dynsel_trace_units(cost_ns)));
}
