/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a transfer, for the trace; no code without CONFIG_DYNSEL_TRACE. */
#ifndef DYNSEL_DATA_TRACED_COPY_H
#define DYNSEL_DATA_TRACED_COPY_H

#include "data/buffers.h"
#include "policy/traced.h"

#if CONFIG_DYNSEL_TRACE

enum {
    DYNSEL_TRACED_BUFFER_SHIFT = 40, /* above the bytes */
    DYNSEL_TRACED_SOURCE_SHIFT = 51, /* the domain of the copy that was passed on, less 1 */
    DYNSEL_TRACED_DOMAIN_SHIFT = 56,
    DYNSEL_TRACED_PASSED_SHIFT = 62,
    DYNSEL_TRACED_OUT_SHIFT = 63
};

_Static_assert(DYNSEL_PLACE_BITS <= DYNSEL_TRACED_SOURCE_SHIFT - DYNSEL_TRACED_BUFFER_SHIFT,
               "a record of a transfer has no room for so many buffers");
_Static_assert(CONFIG_DYNSEL_MAX_DOMAINS <= 32,
               "a record of a transfer has no room for so many domains");

static inline void dynsel_traced_transfer(const dynsel_selection *selection, uint64_t what,
                                          uint64_t bytes, uint64_t since)
{
    if (since != 0 && dynsel_trace_is_on()) {
        const dynsel_trace_place nobody = {.resource = DYNSEL_TRACE_NO_RESOURCE};
        dynsel_trace_put(DYNSEL_TRACE_COPY,
                         selection != NULL ? dynsel_traced_place(selection->policy,
                                                                 selection->index, selection->piece)
                                           : nobody,
                         since, what | (bytes & (((uint64_t)1 << DYNSEL_TRACED_BUFFER_SHIFT) - 1)));
    }
}

/* A transfer between the host's memory and a domain was enqueued, or made. selection: of the work
 * that needs it; NULL: the program does. buffer: its place in the table + 1; 0: it is a range. */
static inline void dynsel_traced_copy(const dynsel_selection *selection, uint32_t buffer,
                                      uint32_t domain, bool is_out, uint64_t bytes, uint64_t since)
{
    dynsel_traced_transfer(selection,
                           (uint64_t)buffer << DYNSEL_TRACED_BUFFER_SHIFT |
                               (uint64_t)domain << DYNSEL_TRACED_DOMAIN_SHIFT |
                               (uint64_t)is_out << DYNSEL_TRACED_OUT_SHIFT,
                           bytes, since);
}

/* A transfer from the copy in one domain to that in another, without the host's memory. */
static inline void dynsel_traced_pass(const dynsel_selection *selection, uint32_t buffer,
                                      uint32_t from, uint32_t to, uint64_t bytes, uint64_t since)
{
    dynsel_traced_transfer(selection,
                           (uint64_t)buffer << DYNSEL_TRACED_BUFFER_SHIFT |
                               (uint64_t)(from - 1) << DYNSEL_TRACED_SOURCE_SHIFT |
                               (uint64_t)to << DYNSEL_TRACED_DOMAIN_SHIFT |
                               (uint64_t)1 << DYNSEL_TRACED_PASSED_SHIFT,
                           bytes, since);
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

static inline void dynsel_traced_pass(const dynsel_selection *selection, uint32_t buffer,
                                      uint32_t from, uint32_t to, uint64_t bytes, uint64_t since)
{
    (void)selection;
    (void)buffer;
    (void)from;
    (void)to;
    (void)bytes;
    (void)since;
}

#endif

#endif
