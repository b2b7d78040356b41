/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a transfer, for the trace; no code without CONFIG_DYNSEL_TRACE. */
#ifndef DYNSEL_DATA_TRACED_COPY_H
#define DYNSEL_DATA_TRACED_COPY_H

#include "policy/traced.h"

#if CONFIG_DYNSEL_TRACE

enum {
    DYNSEL_TRACED_BUFFER_SHIFT = 40, /* above the bytes */
    DYNSEL_TRACED_DOMAIN_SHIFT = 56,
    DYNSEL_TRACED_OUT_SHIFT = 63
};

/* A transfer between the host's memory and a domain was enqueued, or made. selection: of the work
 * that needs it; NULL: the program does. buffer: its place in the table + 1; 0: it is a range. */
static inline void dynsel_traced_copy(const dynsel_selection *selection, uint32_t buffer,
                                      uint32_t domain, bool is_out, uint64_t bytes, uint64_t since)
{
    const uint64_t what = (bytes & (((uint64_t)1 << DYNSEL_TRACED_BUFFER_SHIFT) - 1)) |
                          (uint64_t)(uint16_t)buffer << DYNSEL_TRACED_BUFFER_SHIFT |
                          (uint64_t)domain << DYNSEL_TRACED_DOMAIN_SHIFT |
                          (uint64_t)is_out << DYNSEL_TRACED_OUT_SHIFT;
    if (since != 0 && dynsel_trace_is_on()) {
        const dynsel_trace_place nobody = {.resource = DYNSEL_TRACE_NO_RESOURCE};
        dynsel_trace_put(DYNSEL_TRACE_COPY,
                         selection != NULL ? dynsel_traced_place(selection->policy,
                                                                 selection->index, selection->piece)
                                           : nobody,
                         since, what);
    }
}

#else

static inline void dynsel_traced_copy(const dynsel_selection *selection, uint32_t buffer,
                                      uint32_t domain, bool is_out, uint64_t bytes, uint64_t since)
{
    (void)selection;
    (void)buffer;
    (void)domain;
    (void)is_out;
    (void)bytes;
    (void)since;
}

#endif

#endif
