/* SPDX-License-Identifier: Apache-2.0 */
/* Recording events; no code without CONFIG_DYNSEL_TRACE. */
#ifndef DYNSEL_TRACE_TRACE_H
#define DYNSEL_TRACE_TRACE_H

#include "trace/record.h"
#include "trace/rings.h"

#if CONFIG_DYNSEL_TRACE

#if CONFIG_DYNSEL_TRACE_TO_HOOK
/* Records the event in `place`, which takes place now. */
DYNSEL_ASIDE void dynsel_trace_put_event(dynsel_trace_place place, uint64_t low, uint64_t high);
#endif

/* The same, of an event that names are kept beside. */
DYNSEL_RARE void dynsel_trace_put_definition(dynsel_trace_place place, uint64_t low, uint64_t high);

/* Records an event that takes place now. low, high: words 0, 1 and 2, 3. */
static inline void dynsel_trace_put(dynsel_trace_event event, dynsel_trace_place place,
                                    uint64_t low, uint64_t high)
{
    place.event = (uint8_t)event;
    if (event < DYNSEL_TRACE_CHOICE) {
        dynsel_trace_put_definition(place, low, high);
    } else {
        dynsel_trace_put_event(place, low, high);
    }
}

/* A name, in as many records as it needs, up to three. */
DYNSEL_RARE void dynsel_trace_put_name(dynsel_trace_event event, dynsel_trace_place place,
                                       const char *name);

/* The event of a kernel that was built since then. */
DYNSEL_RARE void dynsel_trace_put_build(const char *name, uint64_t since);

/* The kind of a task; if it is new it is recorded, with the name if that is not NULL. */
uint32_t dynsel_trace_kind(const dynsel_task *task, const char *name);

/* The calling thread begins a choice: it gets its ring, if there are rings. */
void dynsel_trace_enter_thread(void);

#endif

#endif
